"""A Slurm cluster of one node on this machine, which tests start in a folder and stop again.

Everything is private to the folder (configuration, munge key and socket, spool, logs, database),
so that another Slurm on the machine is left alone. The node has GPU resources over /dev/null
and the like: Slurm hands them out and sets CUDA_VISIBLE_DEVICES, but nothing computes on them.
Needs root, for slurmd, and Debian's slurmctld, slurmd, slurm-client and munge; with accounting
also slurmdbd and mariadb-server.
"""

import getpass
import os
import re
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Timer

import psutil
from tenacity import retry, stop_after_delay, wait_fixed

from builders.servers import free_ports

DAEMONS = ("munged", "slurmctld", "slurmd", "scontrol")
DAEMONS_OF_ACCOUNTING = ("slurmdbd", "mariadbd", "mariadb-install-db", "sacctmgr")
CPUS = 4  # those of the machine are shared
GPUS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random")

PORTS = ("controller_port", "node_port", "database_port", "mariadb_port")

SLURM_CONF = """\
ClusterName=analogyqa
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits as long as a credential may live.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
ReturnToService=2
# Remember every job: the tests ask for them at the end.
MinJobAge=86400
KillWait=2
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=1
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=64000 Gres=gpu:{gpus}
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""
WITHOUT_ACCOUNTING = "AccountingStorageType=accounting_storage/none\n"
WITH_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={database_port}
AccountingStoragePass={folder}/munge.socket
AccountingStorageTRES=gres/gpu
"""
SLURMDBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdPort={database_port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mariadb_port}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
"""


def missing(accounting: bool = False) -> list[str]:
    """Return what this machine lacks for such a cluster."""
    names = DAEMONS + DAEMONS_OF_ACCOUNTING * accounting
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    lacking = [name for name in names if not shutil.which(name, path=path)]
    return lacking if os.geteuid() == 0 else ["root", *lacking]


class Cluster:
    """A running cluster; `environment` leads Slurm's commands to it."""

    def __init__(self, folder: Path, accounting: bool = False) -> None:
        self.folder, self.accounting = folder, accounting
        self.host = socket.gethostname().split(".")[0]
        self.environment = {
            **os.environ,
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin",
        }
        self._daemons: list[subprocess.Popen] = []

    @contextmanager
    def running(self) -> Iterator["Cluster"]:
        try:
            self._start()
            yield self
        finally:
            self.stop()

    def run(self, *command: str, check: bool = True) -> str:
        """Run a command of Slurm and return its output."""
        done = subprocess.run(
            command, env=self.environment, text=True, capture_output=True, timeout=60
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def jobs(self) -> list[dict[str, str]]:
        """Return the jobs that the controller remembers, as `scontrol show job` has them."""
        lines = self.run("scontrol", "show", "job", "--oneliner").splitlines()
        records = [dict(part.partition("=")[::2] for part in line.split()) for line in lines]
        return [record for record in records if "JobId" in record]

    @contextmanager
    def without_controller(self, seconds: float) -> Iterator[None]:
        """End the controller as an update does, and start it again at least `seconds` later.

        With SIGKILL it would forget what became of the jobs in the last five seconds.
        """
        controller = next(daemon for daemon in self._daemons if daemon.args[0] == "slurmctld")
        self._daemons.remove(controller)
        controller.terminate()
        controller.wait()
        outage_is_over = Event()
        timer = Timer(seconds, outage_is_over.set)
        timer.start()
        try:
            yield
        finally:  # after a failed test, too: the next one has the same cluster
            outage_is_over.wait()
            self._daemon(*controller.args)
            self._wait_for("is UP", "scontrol", "ping")

    def stop(self) -> None:
        """End every daemon and every process that they left."""
        if (self.folder / "slurmctld.log").exists():
            self.run("scancel", "--user", getpass.getuser(), "--signal=KILL", check=False)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("SLURM_CONF") == self.environment["SLURM_CONF"]:
                    process.kill()  # a Snakemake whose job died with its node waits for ever

    def _start(self) -> None:
        folder = self.folder
        for name in ("state", "spool", "munge", "bin"):
            (folder / name).mkdir(parents=True)
        for above in (folder, *folder.parents):  # munge insists on it for its socket
            mode = above.stat().st_mode
            if mode & 0o011 != 0o011:
                above.chmod(mode | 0o011)
        values = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        values |= {"folder": folder, "host": self.host, "cpus": CPUS, "gpus": len(GPUS)}
        conf = SLURM_CONF + (WITH_ACCOUNTING if self.accounting else WITHOUT_ACCOUNTING)
        (folder / "slurm.conf").write_text(conf.format(**values))
        (folder / "gres.conf").write_text(f"Name=gpu File={','.join(GPUS)}\n")
        # Inside a job Snakemake's plugin calls srun without SLURM_CONF.
        srun, real = folder / "bin" / "srun", shutil.which("srun")
        srun.write_text(f"#!/bin/sh\nSLURM_CONF='{folder}/slurm.conf' exec {real} \"$@\"\n")
        srun.chmod(0o755)
        self._start_munge()
        if self.accounting:
            self._start_accounting(values)
        self._daemon("slurmctld", "-D", "-i")
        self._daemon("slurmd", "-D", "-N", self.host)
        self._wait_for("idle", "sinfo", "--noheader", "--format=%T")

    def _start_munge(self) -> None:
        folder, key = self.folder / "munge", self.folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        files = {"key-file": key, "socket": f"{self.folder}/munge.socket"}
        files |= {name: folder / name for name in ("pid-file", "log-file", "seed-file")}
        options = [f"--{name}={file}" for name, file in files.items()]
        self._daemon("munged", "--foreground", "--force", *options)
        ask = "munge --socket {0} --no-input | unmunge --socket {0}".format(files["socket"])
        self._wait_for("STATUS: *Success", "sh", "-c", ask)

    def _start_accounting(self, values: dict) -> None:
        options = ("--no-defaults", "--user=root")
        data = f"--datadir={self.folder}/mariadb"
        self.run("mariadb-install-db", *options, data, "--auth-root-authentication-method=normal")
        address = (f"--socket={self.folder}/mariadb.socket", f"--port={values['mariadb_port']}")
        self._daemon("mariadbd", *options, data, *address, "--bind-address=127.0.0.1")
        client = ("mariadb", *options, address[0], "--execute")
        self._wait_for("awake", *client, "select 'awake'")
        self.run(*client, "create user slurm@localhost identified by 'slurm'")
        self.run(*client, "grant all on slurm_acct_db.* to slurm@localhost")
        conf = self.folder / "slurmdbd.conf"
        conf.write_text(SLURMDBD_CONF.format(**values))
        conf.chmod(0o600)
        self._daemon("slurmdbd", "-D")
        self._wait_for("Cluster", "sacctmgr", "show", "cluster")
        user = f"user {getpass.getuser()} account=research"
        for entity in ("cluster analogyqa", "account research cluster=analogyqa", user):
            self.run("sacctmgr", "--immediate", "add", *entity.split())

    def _daemon(self, *command: str) -> None:
        context = {"env": self.environment, "cwd": self.folder}
        with open(self.folder / f"{command[0]}.out", "wb") as output:
            daemon = subprocess.Popen(command, stdout=output, stderr=output, **context)
        self._daemons.append(daemon)

    def _wait_for(self, expected: str, *command: str) -> None:
        """Ask a daemon again and again until it answers what is expected."""

        @retry(stop=stop_after_delay(60), wait=wait_fixed(0.1), reraise=True)
        def ask() -> None:
            answer = self.run(*command, check=False)
            ended = [daemon.args[0] for daemon in self._daemons if daemon.poll() is not None]
            assert re.search(expected, answer), f"{command}: {answer} (ended: {ended})"

        ask()
