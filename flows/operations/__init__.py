"""What keeps a laboratory going: passes, schedules, servers, backups, people who withdraw."""
