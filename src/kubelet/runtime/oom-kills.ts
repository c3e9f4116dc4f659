/**
 * Containers of which the kernel killed a process for memory. The engine's own word is not enough: containerd's
 * shim learns of the kill beside the process's exit, in either order. Docker 20.10 drops a kill that is reported
 * after the exit (`SetStopped` in its container/state.go), and on cgroup v1 the shim drops one whose cgroup has
 * been removed meanwhile (pkg/oom/v1/v1.go of containerd 1.6 to 1.7). Measured on two busy processors: 4 of 100
 * kills lost, half of them in each way.
 */
import { constants, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { BoundedMap } from '../../base/bounded-map.ts';
import { containersKilled } from './plan/oom-record.ts';

/** Maximum number of containers that are remembered. */
const mostContainers = 4096;
/** The kernel's own maximum for a record, in bytes. */
const maxRecordBytes = 8192;

const [openFile, readFile] = [promisify(open), promisify(read)];

export class OomKills {
  readonly #kernelLog: string;
  readonly #containers = new BoundedMap<true>(mostContainers);
  /** Descriptor whose position is behind the last record that was read; open as long as this process runs. */
  #file: number | undefined;
  #reading: Promise<void> = Promise.resolve();

  /** `kernelLog` is the path of the kernel's log; default /dev/kmsg. */
  constructor(kernelLog = '/dev/kmsg') {
    this.#kernelLog = kernelLog;
  }

  /** Remembers a kill that the engine reported. */
  add(containerId: string): void {
    this.#containers.set(containerId, true);
  }

  /**
   * Returns true when the engine has reported a kill in the container, or the kernel's log has one. The kernel
   * writes the record before it kills, so the answer is complete for a container that has ended. Where the log
   * cannot be read, and for kills beyond ten in five seconds, which the kernel does not log, the engine's
   * reports alone count.
   */
  async has(containerId: string): Promise<boolean> {
    if (this.#containers.get(containerId)) return true;
    this.#reading = this.#reading.then(() => this.#readNew());
    await this.#reading;
    return this.#containers.get(containerId) ?? false;
  }

  /** Reads the records since the last call, at first all that the kernel still has. */
  async #readNew(): Promise<void> {
    const buffer = Buffer.alloc(maxRecordBytes);
    for (;;) {
      try {
        this.#file ??= await openFile(this.#kernelLog, constants.O_RDONLY | constants.O_NONBLOCK);
        const { bytesRead } = await readFile(this.#file, buffer, 0, buffer.length, null);
        if (bytesRead === 0) return;
        for (const id of containersKilled(buffer.toString('latin1', 0, bytesRead))) this.add(id);
      } catch (error) {
        // EPIPE: records were overwritten before they were read, and the next read begins behind them.
        if ((error as NodeJS.ErrnoException).code !== 'EPIPE') return;
      }
    }
  }
}
