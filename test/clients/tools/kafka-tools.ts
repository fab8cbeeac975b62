/** Kafka's command-line tools, all in one JVM (Tools.java). The caller closes it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { javaProgram } from '../install.ts';

export interface ToolResult {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

export class KafkaTools {
  readonly #address: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  readonly #said: string[] = [];

  constructor(address: string) {
    this.#address = address;
    const [command, ...args] = javaProgram('4.4.0', 'Tools');
    this.#child = spawn(command, args);
    this.#child.stderr.on('data', (chunk: Buffer) => this.#said.push(chunk.toString()));
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /**
   * Runs a tool by its class in org.apache.kafka.tools, with the broker's address and the arguments in a line, which are
   * split at spaces; `input` is what it reads from standard input.
   */
  async run(tool: string, line: string, input = ''): Promise<ToolResult> {
    const start = performance.now();
    const args = ['--bootstrap-server', this.#address, ...line.split(' ').filter(Boolean)];
    // This one alone has a subcommand first.
    if (tool === 'ClusterTool') args.unshift(args.splice(2, 1)[0]!);
    this.#child.stdin.write(`${JSON.stringify({ tool, arguments: args, input })}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`the tools ended during ${tool} ${line}:\n${this.#said.join('')}`);
    process.stderr.write(`${tool} ${line}: ${Math.round(performance.now() - start)} ms\n`);
    return JSON.parse(value) as ToolResult;
  }

  /** Runs a tool that must succeed, and returns what it printed. */
  async ok(tool: string, line: string, input?: string): Promise<string> {
    const { exitCode, output, errors } = await this.run(tool, line, input);
    if (exitCode !== 0) throw new Error(`${tool} ${line} ended with ${exitCode}:\n${output}${errors}`);
    return output;
  }

  /** Runs a tool that must fail, and returns what it said. */
  async refused(tool: string, line: string): Promise<string> {
    const { exitCode, output, errors } = await this.run(tool, line);
    if (exitCode === 0) throw new Error(`${tool} ${line} went well:\n${output}${errors}`);
    return output + errors;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    await ended;
  }
}
