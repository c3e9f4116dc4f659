/** One running role of the built file on a host: `master`, or `node`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { executable } from './cluster.ts';
import { end, type Host } from './host.ts';
import { RoleLog } from './role-log.ts';
import { waitFor } from './wait-for.ts';

export class Role {
  readonly host: Host;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;
  readonly #log: RoleLog;

  /**
   * `args` are the arguments of the built file, with the role's name first. The role ends before its host,
   * and the test fails if its output has lines that are not log lines.
   */
  constructor(host: Host, args: readonly string[]) {
    this.host = host;
    this.#args = args;
    this.#log = new RoleLog(`minik8s ${args[0]} on ${host.name}`);
    host.after(async () => {
      await this.end('SIGTERM');
      this.#log.requireLogLines();
    });
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error(`minik8s ${this.#args[0]} is not running on ${this.host.name}`);
    return pid;
  }

  get running(): boolean {
    return (
      this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
    );
  }

  /** Output of all starts so far. */
  get log(): string {
    return this.#log.text;
  }

  /**
   * Starts the process and resolves when its output has a line that matches; resolves at once without `line`.
   */
  async start(line?: RegExp, timeoutMs = 180_000): Promise<void> {
    if (this.running) throw new Error(`minik8s ${this.#args[0]} runs already on ${this.host.name}`);
    const [program, args] = this.host.command(executable, this.#args);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: tmpdir() });
    this.#process = child;
    const from = this.log.length;
    this.#log.take(child.stdout);
    this.#log.take(child.stderr);
    if (!line) return;
    const written = () => this.log.slice(from);
    await waitFor(`minik8s ${this.#args[0]}`, () => line.test(written()) || !this.running, {
      timeoutMs,
      intervalMs: 10,
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${lastLines(written())}`);
    });
    if (!this.running) throw new Error(`minik8s ${this.#args[0]} ended\n${lastLines(written())}`);
  }

  /** Ends the process with a signal, frozen or not, and resolves to its exit status when it has ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#process;
    if (!child) return null;
    child.kill('SIGCONT');
    await end(child, signal);
    this.#process = undefined;
    return child.exitCode;
  }

  /** Stops the process like a hanging machine: requests get no answer, and connections stay open. */
  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
  }
}

const lastLines = (text: string) => text.split('\n').slice(-20).join('\n');
