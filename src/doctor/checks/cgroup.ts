/** Checks of control groups. Pure. */
import { type Check, fault, ok } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface CgroupFacts {
  readonly version: 1 | 2;
  /** Names of the controllers that the kernel has switched on. */
  readonly controllers: readonly string[];
}

/** Controllers that limits of pods require, with the option of the kernel that switches each on. */
const needed: Readonly<Record<string, string>> = {
  cpu: 'cgroup_enable=cpu',
  memory: 'cgroup_enable=memory',
  pids: 'cgroup_enable=pids',
};

export const cgroupChecks: readonly Check<CgroupFacts, Situation>[] = [
  { name: 'cgroup-version', find: ({ version }) => [ok(`cgroup v${version}`)] },
  {
    name: 'cgroup-controllers',
    find({ controllers }) {
      const missing = Object.entries(needed).filter(([name]) => !controllers.includes(name));
      if (missing.length === 0) return [ok(`controllers ${Object.keys(needed).join(', ')}`)];
      const names = missing.map(([name]) => name).join(', ');
      const options = missing.map(([, option]) => option).join(' ');
      return [
        fault(
          `no controller ${names}`,
          'limits of containers have no effect without it',
          `sed -i 's/^GRUB_CMDLINE_LINUX="/&${options} /' /etc/default/grub && update-grub && reboot`,
        ),
      ];
    },
  },
];
