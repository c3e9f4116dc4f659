/** Checks of this machine's clock. Pure. */
import { installCommands } from '../../installation/plan/packages.ts';
import { type Check, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface ClockFacts {
  /** True if the kernel's clock is synchronised; undefined if that is not known. */
  readonly isSynchronised: boolean | undefined;
  /** True if a program that can synchronise it is installed. */
  readonly hasService: boolean;
}

export const clockChecks: readonly Check<ClockFacts, Situation>[] = [
  {
    name: 'clock-synchronised',
    find({ isSynchronised, hasService }, { packageManager = 'apt' }) {
      if (isSynchronised === undefined) return [note('whether the clock is synchronised is not known')];
      if (isSynchronised) return [ok('the clock is synchronised')];
      const [install = []] = installCommands[packageManager](['chrony']).slice(-1);
      return [
        warning(
          'the clock is not synchronised',
          'certificates and leases depend on the time',
          hasService ? 'timedatectl set-ntp true' : install.join(' '),
        ),
      ];
    },
  },
];
