"""What keeps a laboratory going: passes, schedules, sweeps, servers, backups, people who withdraw."""
