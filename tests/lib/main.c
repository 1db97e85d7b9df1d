// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs one suite. With CK_TAP_LOG_FILE_NAME set, libcheck also writes TAP. */
#include "lib/suite.h"

#include <stdlib.h>

int main(void)
{
	SRunner *runner = srunner_create(test_suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
