from lakatos.flows.notebook.time_left import SILENT_S, TimeLeft


def test_time_left_follows_from_what_is_done_and_is_printed_seldom(capsys):
    clock = iter([0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 36.0])
    done = TimeLeft("theories fitted", 6, lambda: next(clock))
    for _ in range(6):
        done()
    printed = capsys.readouterr()
    assert SILENT_S == 10.0
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "theories fitted: 2 of 6, about 24 s left",
        "theories fitted: 4 of 6, about 12 s left",
    ]


def test_nothing_is_printed_of_what_is_done_at_once(capsys):
    clock = iter([0.0, 1.0, 2.0, 3.0])
    done = TimeLeft("theories fitted", 3, lambda: next(clock))
    for _ in range(3):
        done()
    assert capsys.readouterr().err == ""
