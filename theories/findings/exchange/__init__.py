"""Theories as others write them: from AutoCog and GeCCo, and as one file for anybody."""
