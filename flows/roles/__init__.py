"""Language models in the loop: which is asked, with what, and what is believed of its answer."""
