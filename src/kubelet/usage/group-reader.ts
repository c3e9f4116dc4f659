/**
 * Resource usage of one container, read from its cgroup. The cgroup's files are located once, because a
 * container stays in its cgroup.
 */
import { join } from 'node:path';
import { readIfThere, readNowIfThere } from './kernel-text.ts';
import {
  type CpuUsage,
  cpuUsageV1,
  cpuUsageV2,
  type DeviceUsage,
  devicesV1,
  devicesV2,
  type GroupDirectories,
  groupDirectories,
  type MemoryUsage,
  memoryUsage,
  numberIn,
} from './plan/cgroup-files.ts';

/** A running container: the engine's id, and the pid of its first process on the machine. */
export interface RunningContainer {
  readonly id: string;
  readonly pid: number;
}

export interface GroupDetails {
  readonly devices: readonly DeviceUsage[];
  readonly processes: number | undefined;
}

export class GroupReader {
  readonly #root: string;
  readonly #directories = new Map<string, GroupDirectories>();

  /** `root` is the directory of /proc and /sys: '/' except in tests. */
  constructor(root = '/') {
    this.#root = root;
  }

  /** Drops the directories of a container that is gone. */
  forget(id: string): void {
    this.#directories.delete(id);
  }

  /** Returns the path of its cgroup, as the engine named it; undefined when the container has ended. */
  async path(container: RunningContainer): Promise<string | undefined> {
    const directories = await this.#find(container);
    return directories && `/${directories.memory.split('/').slice(1).join('/')}`;
  }

  async cpu(container: RunningContainer): Promise<CpuUsage | undefined> {
    const found = await this.#find(container);
    if (!found) return undefined;
    if (found.version === 2) {
      const stat = this.#read(found.cpu, 'cpu.stat');
      return stat === undefined ? undefined : cpuUsageV2(stat);
    }
    const usage = this.#read(found.cpuacct, 'cpuacct.usage');
    if (usage === undefined) return undefined;
    const user = this.#read(found.cpuacct, 'cpuacct.usage_user');
    const system = this.#read(found.cpuacct, 'cpuacct.usage_sys');
    return cpuUsageV1(usage, user, system, this.#read(found.cpu, 'cpu.stat'));
  }

  async memory(container: RunningContainer): Promise<MemoryUsage | undefined> {
    const found = await this.#find(container);
    if (!found) return undefined;
    const { version, memory: directory } = found;
    const read = (name: string) => this.#read(directory, name);
    const names =
      version === 2
        ? [
            'memory.current',
            'memory.stat',
            'memory.max',
            'memory.peak',
            'memory.events',
            '',
            'memory.swap.current',
          ]
        : [
            ...['memory.usage_in_bytes', 'memory.stat', 'memory.limit_in_bytes', 'memory.max_usage_in_bytes'],
            ...['memory.failcnt', 'memory.kmem.usage_in_bytes', '', 'memory.oom_control'],
          ];
    const [usage, stat, limit, most, failures, kernel, swap, oom = failures] = names.map((name) =>
      name === '' ? undefined : read(name),
    );
    if (usage === undefined || stat === undefined) return undefined;
    return memoryUsage(version, { usage, stat, limit, most, failures, kernel, swap, oom });
  }

  async details(container: RunningContainer): Promise<GroupDetails> {
    const found = await this.#find(container);
    if (!found) return { devices: [], processes: undefined };
    const { pids, io, version } = found;
    const read = (name: string) => this.#read(io, name) ?? '';
    const devices =
      version === 2
        ? devicesV2(read('io.stat'))
        : devicesV1(
            read('blkio.throttle.io_service_bytes_recursive'),
            read('blkio.throttle.io_serviced_recursive'),
          );
    return { devices, processes: numberIn(this.#read(pids, 'pids.current')) };
  }

  async #find({ id, pid }: RunningContainer): Promise<GroupDirectories | undefined> {
    const known = this.#directories.get(id);
    if (known) return known;
    if (pid <= 0) return undefined;
    const text = await readIfThere(join(this.#root, `proc/${pid}/cgroup`));
    const found = text === undefined ? undefined : groupDirectories(text, id);
    if (found) this.#directories.set(id, found);
    return found;
  }

  #read(directory: string, name: string): string | undefined {
    return directory === '' ? undefined : readNowIfThere(join(this.#root, 'sys/fs/cgroup', directory, name));
  }
}
