/** Checks of kernel parameters and of limits. Pure. */
import { lowSysctls, sysctls } from '../../installation/plan/kernel.ts';
import { type Check, fault, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface ParameterFacts {
  /** Values by name; a parameter that the kernel does not have is absent. */
  readonly values: ReadonlyMap<string, string>;
  /** Open files of the whole machine. */
  readonly openFiles?: { readonly count: number; readonly max: number };
  /** Open files of the minik8s that runs, with its limit; absent if none runs. */
  readonly own?: { readonly count: number; readonly max: number };
}

const reasons: Readonly<Record<string, string>> = {
  'net.ipv4.ip_forward': 'no packet leaves a pod without forwarding',
  'fs.inotify.max_user_instances': 'some dozens of containers that watch files use up all instances',
};

export const watchesName = 'fs.inotify.max_user_watches';
/** The kernel's default of small machines is 8192. */
const minWatches = 65_536;
const usualWatches = 524_288;

/** Minimum limit of open files: each connection and each watch of a client is one. */
const minFiles = 8192;
const usualFiles = 1_048_576;
/** Share of a limit above which it is nearly reached. */
const nearly = 0.8;

export const parameterChecks: readonly Check<ParameterFacts, Situation>[] = [
  {
    name: 'sysctls',
    find({ values }) {
      const low = new Map(lowSysctls(values).map(({ name, value }) => [name, value]));
      return Object.keys(sysctls).map((name) => {
        const current = values.get(name);
        const value = low.get(name);
        if (current === undefined) return note(`the kernel has no parameter ${name}`);
        if (value === undefined) return ok(`${name} = ${current}`);
        const severe = name === 'net.ipv4.ip_forward' ? fault : warning;
        return severe(`${name} = ${current}`, reasons[name] ?? '', `sysctl -w ${name}=${value}`, {
          ...{ kind: 'sysctl', name, value },
        });
      });
    },
  },
  {
    name: 'inotify-watches',
    find({ values }) {
      const current = values.get(watchesName);
      if (current === undefined) return [note(`the kernel has no parameter ${watchesName}`)];
      if (Number(current) >= minWatches) return [ok(`${watchesName} = ${current}`)];
      const value = String(usualWatches);
      return [
        warning(
          `${watchesName} = ${current}`,
          'programs in pods fail to watch files once they are used up',
          `sysctl -w ${watchesName}=${value}`,
          { kind: 'sysctl', name: watchesName, value },
        ),
      ];
    },
  },
  {
    name: 'open-files',
    find({ openFiles }) {
      if (!openFiles) return [note('the number of open files is not known')];
      const { count, max } = openFiles;
      if (!Number.isSafeInteger(max)) return [ok(`${count} open files of the machine, without a limit`)];
      const found = `${count} of ${max} open files of the machine`;
      if (count < nearly * max) return [ok(found)];
      const value = String(2 * max);
      return [
        warning(found, 'no program can open a file once they are used up', `sysctl -w fs.file-max=${value}`, {
          ...{ kind: 'sysctl', name: 'fs.file-max', value },
        }),
      ];
    },
  },
  {
    name: 'open-files-of-minik8s',
    find({ own }, { pid }) {
      if (!own || pid === undefined) return [];
      const found = `minik8s has ${own.count} of ${own.max} open files`;
      if (own.max >= minFiles && own.count < nearly * own.max) return [ok(found)];
      const files = Math.max(usualFiles, 2 * own.max);
      return [
        warning(
          found,
          'it refuses connections once they are used up',
          `prlimit --pid ${pid} --nofile=${files}:${files}`,
        ),
      ];
    },
  },
];
