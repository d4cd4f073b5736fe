"""absl's flags, as many research scripts have them."""

from absl import app, flags, logging

FLAGS = flags.FLAGS
flags.DEFINE_float("learning_rate", None, "The step.", required=True)
flags.DEFINE_multi_integer("layer", [], "Width of a layer.")
flags.DEFINE_list("betas", ["0.9", "0.999"], "Two numbers.")
flags.DEFINE_bool("ema", True, "Whether to average.")
flags.DEFINE_enum("dtype", "float32", ["float32", "bfloat16"], "Type of numbers.")


def main(argv):
    if len(argv) > 1:
        raise app.UsageError("Too many command-line arguments.")
    beta = float(FLAGS.betas[0])
    value = FLAGS.learning_rate * sum(FLAGS.layer) + beta - FLAGS.ema
    logging.info("dtype %s, layers %s", FLAGS.dtype, FLAGS.layer)
    for step in (100, 200):
        logging.info("[%d] eval/loss=%.5g, lr=%s", step, value * 100 / step, FLAGS.learning_rate)


if __name__ == "__main__":
    app.run(main)
