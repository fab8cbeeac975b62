import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's command-line tools one after another in this process, since a start of the JVM takes longer than most of them.
 * Each line on standard input is JSON, {"tool": CLASS, "arguments": [...], "input": TEXT}; each is answered by a line
 * {"exitCode", "output", "errors"}.
 */
public class Tools {
  /** What a tool throws, unwittingly, when it wants to end the process. */
  static class Exited extends Error {}

  record Command(String tool, List<String> arguments, String input) {}

  record Result(int exitCode, String output, String errors) {}

  /** Tools may keep the stream that they found, so that it stays and what is behind it changes. */
  static class Captured extends OutputStream {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public synchronized void write(int one) {
      bytes.write(one);
    }

    public synchronized void write(byte[] some, int from, int length) {
      bytes.write(some, from, length);
    }

    synchronized String take() {
      String text = bytes.toString(StandardCharsets.UTF_8);
      bytes.reset();
      return text;
    }
  }

  static Captured output = new Captured();
  static Captured errors = new Captured();
  /** What it was when the tool wanted to end: some catch what then keeps them from going on, and print it. */
  static Result atExit;

  static Result exit(int code) {
    return new Result(code, output.take(), errors.take());
  }

  static Result run(Command command) throws Exception {
    System.setIn(new ByteArrayInputStream(command.input == null ? new byte[0] : command.input.getBytes(StandardCharsets.UTF_8)));
    atExit = null;
    int exitCode = 0;
    try {
      var main = Class.forName("org.apache.kafka.tools." + command.tool).getMethod("main", String[].class);
      main.invoke(null, (Object) command.arguments.toArray(new String[0]));
    } catch (InvocationTargetException thrown) {
      exitCode = 1;
      if (atExit == null) thrown.getCause().printStackTrace();
    }
    Result atEnd = exit(exitCode);
    return atExit == null ? atEnd : atExit;
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    InputStream commands = System.in;
    System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
    Exit.Procedure exit =
        (code, message) -> {
          if (atExit == null) atExit = exit(code);
          throw new Exited();
        };
    Exit.setExitProcedure(exit);
    Exit.setHaltProcedure(exit);
    ObjectMapper json = new ObjectMapper();
    var lines = new BufferedReader(new InputStreamReader(commands, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      answers.println(json.writeValueAsString(run(json.readValue(line, Command.class))));
    }
    // The tools' shutdown hooks wait for what has long ended.
    Runtime.getRuntime().halt(0);
  }
}
