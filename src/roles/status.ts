/** `minik8s status`: whether minik8s runs on this machine and is healthy, and where its files are. */
import { existsSync } from 'node:fs';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import type { FlagTable } from '../cli/flags/flags.ts';
import type { CtlIo, Verb } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { noneText, readAbsence } from './running/absence.ts';
import { ownProcesses } from './running/processes.ts';
import { ofOtherRoles, selected, targetFlags, targetOf } from './running/targets.ts';
import { exitStatuses, healthOf } from './status/facts.ts';
import { readRunningFacts } from './status/read-facts.ts';
import { reportJson, reportText } from './status/report.ts';

const flagTable = {
  output: { type: 'string', short: 'o', hint: 'FORMAT', about: 'output format: text or json', usual: 'text' },
  ...targetFlags,
} as const satisfies FlagTable;

const status: Verb = {
  about:
    'show whether minik8s runs here and is healthy; exits with 0, 1 if not healthy, 3 if it does not run',
  flags: flagTable,
  examples: ['status # see whether minik8s runs here', 'status -o json # the same for a program'],
  async run({ flags, io }) {
    const asJson = flags.oneOf('output', ['json', 'text'] as const) === 'json';
    const target = targetOf(flags);
    const processes = ownProcesses();
    const found = selected(processes, target);
    const all = await Promise.all(found.map((one) => readRunningFacts(io, one)));
    if (asJson) io.out(reportJson(all));
    else if (all.length > 0) io.out(all.map((facts) => reportText(facts, io.clock.now())).join('\n'));
    else io.out(noneText(await readAbsence(target, existsSync), ofOtherRoles(processes, target)));
    if (all.length === 0) io.exitWith(exitStatuses.notRunning);
    else if (all.some((facts) => healthOf(facts) === 'unhealthy')) io.exitWith(exitStatuses.unhealthy);
  },
};

export const statusCommand = (io: CtlIo): AnyCommand => toCommand(status, io, 'status');

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  statusCommand(processIo({ kubernetesFields, features: noFeatures }));
