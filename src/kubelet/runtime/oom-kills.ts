/**
 * Finds the containers in which the kernel killed a process for lack of memory. The engine's reports alone
 * are incomplete: containerd's shim reports the kill beside the process's exit, in either order. Docker 20.10
 * drops a kill that is reported after the exit (`SetStopped` in its container/state.go), and on cgroup v1 the
 * shim drops one whose cgroup has been removed meanwhile (pkg/oom/v1/v1.go of containerd, 1.6 to 2.1).
 * Measured on two busy processors: 4 of 100 kills lost, half of them in each way.
 */
import { constants, open, read } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { BoundedMap } from '../../base/bounded-map.ts';
import { containersKilled, processKilled } from './plan/oom-record.ts';

/** Maximum number of containers that are remembered. */
const maxContainers = 4096;
/** The machine's own process namespace (PROC_PID_INIT_INO of Linux), in whose numbers the kernel's log is. */
const initialNamespace = 'pid:[4026531836]';
/** The kernel's own maximum for a record, in bytes. */
const maxRecordBytes = 8192;

const [openFile, readFile] = [promisify(open), promisify(read)];

async function isInInitialNamespace(): Promise<boolean> {
  return (await readlink('/proc/self/ns/pid').catch(() => '')) === initialNamespace;
}

export class OomKills {
  readonly #kernelLog: string;
  readonly #containers = new BoundedMap<true>(maxContainers);
  /** Containers by the id of their first process. */
  readonly #firstProcesses = new BoundedMap<string>(maxContainers);
  readonly #ended = new BoundedMap<true>(maxContainers);
  /** Descriptor, positioned after the last record that was read; open as long as this process runs. */
  #file: number | undefined;
  #reading: Promise<void> = Promise.resolve();
  readonly #hasNumbersOfLog: () => Promise<boolean>;

  /**
   * `kernelLog` is the path of the kernel's log; default /dev/kmsg. `hasNumbersOfLog` resolves with true when
   * the engine has the same process ids as the log.
   */
  constructor(kernelLog = '/dev/kmsg', hasNumbersOfLog = isInInitialNamespace) {
    this.#kernelLog = kernelLog;
    this.#hasNumbersOfLog = hasNumbersOfLog;
  }

  /** Remembers a kill that the engine reported. */
  add(containerId: string): void {
    this.#containers.set(containerId, true);
  }

  /**
   * Notes the first process of a running container. Earlier records are read before, because they may name
   * another process with the same number.
   */
  async started(containerId: string, pid: number): Promise<void> {
    if (this.#firstProcesses.get(String(pid)) === containerId) return;
    await this.#readLog();
    if (await this.#hasNumbersOfLog()) this.#firstProcesses.set(String(pid), containerId);
  }

  /**
   * Returns true when the engine has reported a kill in the container, or the kernel's log has one. The
   * kernel writes the record before it kills, so the answer is complete for a container that has ended. Where
   * the log cannot be read, the engine's reports alone count. For kills beyond ten in five seconds the log
   * names only the process: such a kill is found only if it hit the noted first process of a container. Must
   * be called only for a container that has ended.
   */
  async has(containerId: string): Promise<boolean> {
    if (this.#containers.get(containerId)) return true;
    await this.#readLog();
    this.#ended.set(containerId, true);
    return this.#containers.get(containerId) ?? false;
  }

  #readLog(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNew());
    return this.#reading;
  }

  /** Reads the records since the last call, at first all that the kernel still has. */
  async #readNew(): Promise<void> {
    const buffer = Buffer.alloc(maxRecordBytes);
    for (;;) {
      try {
        this.#file ??= await openFile(this.#kernelLog, constants.O_RDONLY | constants.O_NONBLOCK);
        const { bytesRead } = await readFile(this.#file, buffer, 0, buffer.length, null);
        if (bytesRead === 0) return;
        this.#take(buffer.toString('latin1', 0, bytesRead));
      } catch (error) {
        // EPIPE: records were overwritten before they were read, and the next read begins after them.
        if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return;
      }
    }
  }

  #take(record: string): void {
    for (const id of containersKilled(record)) this.add(id);
    const pid = processKilled(record);
    const id = pid === undefined ? undefined : this.#firstProcesses.get(String(pid));
    if (id !== undefined && !this.#ended.get(id)) this.add(id);
  }
}
