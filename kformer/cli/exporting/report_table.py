"""How exports compare with Python, as a table."""

import typer


def show_reports(reports):
    """Prints the reports as a table."""
    classified = reports[0].accuracy is not None
    measure = "accuracy %" if classified else "BLEU" if reports[0].bleu is not None else ""
    typer.echo(f"{'form':<19}{'MB':>8}{measure:>12}  as Python")
    for report in reports:
        size = f"{report.bytes / 1e6:.1f}" if report.bytes else ""
        score = 100 * report.accuracy if classified else report.bleu
        score = "" if score is None else f"{score:.2f}"
        agreement = f"{report.equal} of {report.total}"
        if report.ties:
            agreement += f", {report.ties} others at a tie"
        if report.tokenizer_ties:
            agreement += f", {report.tokenizer_ties} at a tie of the tokenizer"
        if report.others:
            agreement += f", {report.others} otherwise"
        typer.echo(f"{report.form:<19}{size:>8}{score:>12}  {agreement}")
    if reports[0].signature:
        typer.echo(f"BLEU: {reports[0].signature}")
