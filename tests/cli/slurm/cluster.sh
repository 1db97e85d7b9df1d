# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# A Slurm cluster on this host: munged, slurmctld and a slurmd for each node, on ports of 127.0.0.1.
# Source it:
#
#   cluster_start DIR NODES   starts the cluster, with all of its files in DIR; returns 1 on failure
#   cluster_stop              ends all of its processes, and what its jobs left
#   cluster_kill NODE         kills the slurmd of a node, and its job steps
#
# A daemon or a job step is known by its open log in DIR, and a process of a job by its environment.
# Each is ended by its id.

# Print the ids of the processes of the cluster, or of a node. This is fast, because jobs end.
cluster_pids() { # [NODE]
	{
		find /proc/[0-9]*/fd -lname "$cluster_dir/${1:-*}.log" 2>/dev/null
		cluster_jobs=$(grep -lxzF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null)
		# shellcheck disable=SC2086 # a list of files
		[ -z "$cluster_jobs" ] ||
			grep -lxzE "SLURMD_NODENAME=${1:-.+}" $cluster_jobs 2>/dev/null
	} | cut -d/ -f3 | sort -un
}

cluster_config() { # NODES
	cat <<EOF
ClusterName=vpt
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=$cluster_port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$cluster_dir/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
SlurmdTimeout=300
ReturnToService=0
StateSaveLocation=$cluster_dir/state
SlurmdSpoolDir=$cluster_dir/spool/%n
SlurmctldPidFile=$cluster_dir/slurmctld.pid
SlurmdPidFile=$cluster_dir/%n.pid
SlurmctldLogFile=$cluster_dir/slurmctld.log
SlurmdLogFile=$cluster_dir/%n.log
EOF
	for cluster_i in $(seq "$1"); do
		echo "NodeName=n$cluster_i NodeHostname=$(uname -n) NodeAddr=127.0.0.1" \
			"Port=$((cluster_port + cluster_i)) CPUs=1 RealMemory=100000"
	done
	echo "PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP"
}

cluster_start() { # DIR NODES
	cluster_dir=$(realpath "$1")
	# Ports of this process, so that two clusters do not meet.
	cluster_port=$((20000 + $$ % 1000 * 10))
	mkdir -p "$cluster_dir/state" "$cluster_dir/spool"
	cluster_config "$2" >"$cluster_dir/slurm.conf"
	export SLURM_CONF="$cluster_dir/slurm.conf"
	(umask 077 && head -c 128 /dev/urandom >"$cluster_dir/munge.key")
	munged --force --key-file="$cluster_dir/munge.key" \
		--socket="$cluster_dir/munge.sock" --pid-file="$cluster_dir/munged.pid" \
		--log-file="$cluster_dir/munged.log" --seed-file="$cluster_dir/munge.seed" || return 1
	slurmctld || return 1
	for cluster_i in $(seq "$2"); do
		mkdir -p "$cluster_dir/spool/n$cluster_i"
		slurmd -N "n$cluster_i" || return 1
	done
	cluster_wait 60 cluster_idle "$2"
}

cluster_idle() { # NODES
	[ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" -eq "$1" ]
}

# Wait until a command succeeds. Returns 1 after some seconds.
cluster_wait() { # SECONDS COMMAND...
	cluster_until=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $cluster_until ] || return 1
		sleep 0.2
	done
}

cluster_kill() { # NODE
	for cluster_id in $(cluster_pids "$1"); do
		kill -9 "$cluster_id" 2>/dev/null
	done
}

cluster_stop() {
	[ -n "${cluster_dir-}" ] || return 0
	for cluster_id in $(cluster_pids); do
		kill "$cluster_id" 2>/dev/null
	done
	cluster_wait 20 cluster_gone || for cluster_id in $(cluster_pids); do
		kill -9 "$cluster_id" 2>/dev/null
	done
}

cluster_gone() {
	[ -z "$(cluster_pids)" ]
}
