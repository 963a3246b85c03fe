"""Where a run goes: a job started on this machine, on hosts by SSH or by Slurm, looked at, stopped and brought home."""
