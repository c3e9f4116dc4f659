/** Reads the version and the controllers of control groups. */
import type { CgroupFacts } from '../checks/cgroup.ts';
import { textOf } from './text-file.ts';

export async function readCgroup(): Promise<CgroupFacts> {
  const controllers = await textOf('/sys/fs/cgroup/cgroup.controllers');
  if (controllers.trim() !== '') return { version: 2, controllers: controllers.trim().split(' ') };
  // The columns are the name, the hierarchy, the number of groups and whether it is switched on.
  const rows = (await textOf('/proc/cgroups')).split('\n').filter((line) => line && !line.startsWith('#'));
  const switchedOn = rows.map((line) => line.split('\t')).filter(([, , , enabled]) => enabled === '1');
  return { version: 1, controllers: switchedOn.map(([name = '']) => name) };
}
