/** `minik8s doctor`: examines this machine and the nodes of the cluster, and prints how to mend what it finds. */
import { errorMessage } from '../base/log.ts';
import { UsageError } from '../base/usage-error.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import type { FlagTable } from '../cli/flags/flags.ts';
import type { CtlIo, Verb } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { carryOutFix } from '../doctor/carry-out.ts';
import { readFacts } from '../doctor/facts/read-facts.ts';
import { exitStatusOf, type Finding } from '../doctor/finding.ts';
import { machineFindings } from '../doctor/machine.ts';
import { type Fixed, reportJson, reportText } from '../doctor/report.ts';
import { systemExec } from '../os/exec.ts';
import { type OwnMachine, readOwnMachine } from './doctor/own-settings.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { settingTable } from './settings/setting-table.ts';
import { hostResolvConf } from './worker/node-dns.ts';

const flagTable = {
  fix: {
    type: 'boolean',
    about: 'mend what is harmless: kernel parameters and modules, permissions of keys',
  },
  json: { type: 'boolean', about: 'print the findings as a JSON document' },
  'data-dir': {
    type: 'string',
    hint: 'DIRECTORY',
    about: 'directory of all state',
    usual: settingTable['data-dir'].default,
  },
  'docker-socket': {
    type: 'string',
    hint: 'FILE',
    about: 'socket of the Docker engine',
    usual: settingTable['docker-socket'].default,
  },
} as const satisfies FlagTable;

const doctor: Verb = {
  about: 'find what keeps the cluster from working, with the command that mends it',
  flags: flagTable,
  async run({ flags, io, palette }) {
    if (flags.words.length > 0)
      throw new UsageError('minik8s doctor takes no words; --node NAME picks nodes');
    const given = ['data-dir', 'docker-socket'].flatMap((name) =>
      flags.texts(name).map((text) => [name, text]),
    );
    const own = await readOwnMachine(Object.fromEntries(given), systemExec, io.clock.now());
    const examine = () => examineMachine(own);
    const before = await examine();
    const fixed = flags.on('fix') ? await fixAll(before) : [];
    const findings = fixed.length > 0 ? await examine() : before;
    io.out(flags.on('json') ? reportJson(findings, fixed) : reportText(findings, fixed, palette.header));
    io.exitWith(exitStatusOf(findings));
  },
};

async function examineMachine({ situation, nodeName }: OwnMachine): Promise<readonly Finding[]> {
  const sources = { exec: systemExec, situation, resolvConf: hostResolvConf(), measuresDisk: true };
  const findings = machineFindings(await readFacts(sources), situation);
  return nodeName === undefined ? findings : findings.map((finding) => ({ ...finding, node: nodeName }));
}

/** Carries out the harmless changes, each once. */
async function fixAll(findings: readonly Finding[]): Promise<readonly Fixed[]> {
  const fixed: Fixed[] = [];
  for (const { fix, mend = '' } of findings) {
    if (!fix) continue;
    const problem = await carryOutFix(systemExec, fix).then(() => undefined, errorMessage);
    fixed.push({ command: mend, ...(problem !== undefined && { problem }) });
  }
  return fixed;
}

export const doctorCommand = (io: CtlIo): AnyCommand => toCommand(doctor, io, 'doctor');

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  doctorCommand(processIo({ kubernetesFields, features: noFeatures }));
