// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256 (FIPS 180-4). */
#include "work.h"

#include "lib/guest.h"
#include "lib/mem.h"

const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t ror(uint32_t v, unsigned int n)
{
	return v >> n | v << (32 - n);
}

static uint32_t swap32(uint32_t v)
{
	return __builtin_bswap32(v);
}

static noinline void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], s[8];
	unsigned int i;

	memcpy(w, block, 64);
	for (i = 0; i < 16; i++)
		w[i] = swap32(w[i]);
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof(s));
	for (i = 0; i < 64; i++) {
		uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
			      ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_k[i] + w[i];
		uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
			      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		s[7] = s[6];
		s[6] = s[5];
		s[5] = s[4];
		s[4] = s[3] + t1;
		s[3] = s[2];
		s[2] = s[1];
		s[1] = s[0];
		s[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256(const void *data, size_t len, uint8_t hash[32])
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint8_t tail[128] = {0};
	const uint8_t *at = data;
	size_t left = len, size;
	unsigned int i;

	for (; left >= 64; left -= 64, at += 64)
		compress(state, at);
	memcpy(tail, at, left);
	tail[left] = 0x80;
	size = left < 56 ? 64 : 128;
	for (i = 0; i < 8; i++)
		tail[size - 1 - i] = (uint8_t)((uint64_t)len << 3 >> 8 * i);
	for (at = tail; at < tail + size; at += 64)
		compress(state, at);
	for (i = 0; i < 8; i++) {
		uint32_t word = swap32(state[i]);

		memcpy(hash + 4 * i, &word, sizeof(word));
	}
}

/* The examples of the standard, with the first and the last bytes of their results. */
static const struct {
	const char *text;
	size_t len;
	uint32_t first, last;
} examples[] = {
	{"", 0, 0xe3b0c442, 0x7852b855},
	{"abc", 3, 0xba7816bf, 0xf20015ad},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 0x248d6a61, 0x19db06c1},
};

bool work_sha256(struct rng *rng)
{
	uint32_t i = rng_below(rng, ARRAY_SIZE(examples)), first, last;
	uint8_t hash[32];

	sha256(examples[i].text, examples[i].len, hash);
	memcpy(&first, hash, 4);
	memcpy(&last, hash + 28, 4);
	return swap32(first) == examples[i].first && swap32(last) == examples[i].last;
}
