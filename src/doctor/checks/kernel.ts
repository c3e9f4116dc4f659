/** Checks of the kernel's features. Pure. */
import type { KernelFeatureName, Lack } from '../../installation/plan/kernel-features.ts';
import { kernelFeatures } from '../../installation/plan/kernel-features.ts';
import { installCommands } from '../../installation/plan/packages.ts';
import { type Check, fault, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface KernelFacts {
  readonly release: string;
  /** Names of file systems that the kernel supports. */
  readonly fileSystems: readonly string[];
  /** Features that were tried; undefined for one that works. */
  readonly lacks: Readonly<Partial<Record<KernelFeatureName, Lack | undefined>>>;
  /** Tracked connections; absent while the module is not loaded. */
  readonly conntrack?: { readonly count: number; readonly max: number };
}

/** Share of the connection table above which it is nearly full. */
const fullTable = 0.8;

export const kernelChecks: readonly Check<KernelFacts, Situation>[] = [
  {
    name: 'kernel-features',
    find: ({ lacks }, situation) =>
      Object.entries(lacks).map(([name, lack]) => {
        const { what, module, why, packageName } = kernelFeatures[name as KernelFeatureName];
        if (lack === undefined) return ok(`${what} works`);
        const found = `${what} cannot be used: ${lack.reason}`;
        if (lack.cause === 'refused')
          return fault(found, why, `modprobe ${module}`, { kind: 'module', name: module });
        if (lack.cause === 'missing') return fault(found, why, installing(packageName, situation));
        return note(found, `${why}; root needs the capabilities NET_ADMIN and SYS_ADMIN here`);
      }),
  },
  {
    name: 'kernel-overlayfs',
    find: ({ fileSystems, release }) =>
      fileSystems.includes('overlay')
        ? [ok('file system overlay')]
        : [
            fault(
              `kernel ${release} has no file system overlay`,
              'images take much more room and time without it',
              'modprobe overlay',
              { kind: 'module', name: 'overlay' },
            ),
          ],
  },
  {
    name: 'kernel-conntrack',
    find({ conntrack }) {
      if (!conntrack) return [note('connection tracking is not loaded yet', 'minik8s loads it at its start')];
      const { count, max } = conntrack;
      const found = `${count} of ${max} tracked connections`;
      if (count < fullTable * max) return [ok(found)];
      const name = 'net.netfilter.nf_conntrack_max';
      const value = String(2 * max);
      const severe = count < max ? warning : fault;
      return [
        severe(found, 'new connections are dropped once the table is full', `sysctl -w ${name}=${value}`, {
          ...{ kind: 'sysctl', name, value },
        }),
      ];
    },
  },
];

function installing(packageName: string, { packageManager = 'apt' }: Situation): string {
  const [command = []] = installCommands[packageManager]([packageName]).slice(-1);
  return command.join(' ');
}
