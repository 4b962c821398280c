# Lakatos from R: the command line, with CSV in and out. Nothing but base R is needed.
#
#   Rscript from_r.R answers.csv
#
# `lakatos` must be on the path (a checkout has it as .venv/bin/lakatos), or LAKATOS must name it.

Sys.unsetenv("LD_LIBRARY_PATH")  # R's own libraries are not those of Python

lakatos <- function(...) {
  status <- system2(Sys.getenv("LAKATOS", "lakatos"), shQuote(c(...)))
  if (status != 0) stop("lakatos ended with status ", status, "; it said why above")
}

answers <- commandArgs(trailingOnly = TRUE)[1]

# What does the file hold? Nothing is changed.
lakatos("data", "describe", answers)

# How well do theories predict people who taught them nothing? One line for each, the best first.
lakatos("theory", "score", answers, "hyperbolic", "exponential", "--out", "scores.csv")
scores <- read.csv("scores.csv")
print(scores[, c("theory", "score", "score_low", "score_high", "behind")])

# Who are the people of a theory? Median and middle 95% of people for each parameter.
lakatos("theory", "fit", "hyperbolic", answers, "--out", "people.csv")
people <- read.csv("people.csv")
print(people[, c("parameter", "low", "median", "high")])

# What would people do in trials that nobody has answered? Columns as in the answers, without participant and choice.
trials <- data.frame(ss_amount = c(10, 10), ll_amount = c(12, 20), ss_delay = c(0, 0), ll_delay = c(30, 30))
write.csv(trials, "trials.csv", row.names = FALSE)
lakatos("theory", "predict", "hyperbolic", "trials.csv", "--fit", answers, "--out", "predictions.csv")
predictions <- read.csv("predictions.csv")
print(predictions[, c("ll_amount", "later", "later_low", "later_high")])

# A search for a theory of the answers, up to a verdict, and what came of it as tables.
lakatos("explain", answers, "--runs", "runs", "--cycles", "1")
lakatos("export", "--runs", "runs", "--to", "tables", "--out", "tables")
cat(readLines("tables/verdict.txt"), sep = "\n")
board <- read.csv("tables/leaderboard.csv")
print(board[, c("theory", "score", "score_low", "score_high", "tied")])
leader <- read.csv("tables/leader.csv")
print(leader[, c("parameter", "low", "median", "high")])
given <- read.csv("tables/answers.csv")
print(table(given$option))
