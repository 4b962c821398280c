"""What a program must prove before it enters as a theory, and what it is called then."""
