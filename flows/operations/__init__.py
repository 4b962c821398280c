"""Operation of a laboratory: passes, schedules, servers, backups, people who withdraw."""
