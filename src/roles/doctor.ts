/** `minik8s doctor`: examines this machine and the nodes of the cluster, and prints how to mend faults. */
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Cluster } from '../cli/connection/cluster.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import type { FlagTable } from '../cli/flags/flags.ts';
import type { CtlIo, Verb } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { carryOutFix } from '../doctor/carry-out.ts';
import { type ClusterNodeFacts, clusterFindings } from '../doctor/checks/cluster.ts';
import { readFacts } from '../doctor/facts/read-facts.ts';
import { exitStatusOf, type Finding, fault, note, ok } from '../doctor/finding.ts';
import { agentChecks, machineFindings } from '../doctor/machine.ts';
import { type Fixed, reportJson, reportText } from '../doctor/report.ts';
import { systemExec } from '../os/exec.ts';
import { type OwnMachine, readOwnMachine } from './doctor/own-settings.ts';
import { readCluster } from './doctor/read-cluster.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { machineFlags } from './settings/machine-flags.ts';
import { hostResolvConf } from './worker/node-dns.ts';

const flagTable = {
  fix: {
    type: 'boolean',
    about: 'mend what is harmless: kernel parameters and modules, permissions of keys',
  },
  json: { type: 'boolean', about: 'print the findings as a JSON document' },
  node: {
    type: 'string',
    hint: 'NAME',
    about: 'examine this node alone; may be repeated',
    usual: 'all nodes',
  },
  ...machineFlags,
} as const satisfies FlagTable;

const doctor: Verb = {
  about: 'find what keeps the cluster from working, with the command that mends it',
  flags: flagTable,
  examples: ['doctor # examine this machine and the cluster', 'doctor --json # print the findings as JSON'],
  async run({ flags, io, palette, cluster }) {
    if (flags.words.length > 0)
      throw new UsageError('minik8s doctor takes no words; --node NAME picks nodes');
    const given = Object.keys(machineFlags).flatMap((name) => flags.texts(name).map((text) => [name, text]));
    const own = await readOwnMachine(Object.fromEntries(given), systemExec, io.clock.now());
    const examine = () => examineAll(own, flags.texts('node'), cluster, io.clock);
    const before = await examine();
    const fixed = flags.on('fix') ? await fixAll(before) : [];
    const findings = fixed.length > 0 ? await examine() : before;
    const report = flags.on('json')
      ? reportJson(findings, fixed)
      : reportText(findings, fixed, palette.header);
    io.out(report);
    io.exitWith(exitStatusOf(findings));
  },
};

/** Examines this machine, unless other nodes alone are wanted, and the nodes of the cluster. */
async function examineAll(
  own: OwnMachine,
  names: readonly string[],
  cluster: () => Cluster,
  clock: Clock,
): Promise<readonly Finding[]> {
  const isWanted = names.length === 0 || (own.nodeName !== undefined && names.includes(own.nodeName));
  const [machine, ofCluster] = await Promise.all([
    isWanted ? examineMachine(own, clock) : [],
    examineCluster(own, names, cluster, clock),
  ]);
  return [...machine, ...ofCluster];
}

async function examineMachine(
  { situation, nodeName, problem }: OwnMachine,
  clock: Clock,
): Promise<readonly Finding[]> {
  const sources = { exec: systemExec, clock, situation, resolvConf: hostResolvConf(), measuresDisk: true };
  const configuration = problem === undefined ? [] : [fault(problem, 'minik8s does not start with it')];
  const findings = [
    ...configuration.map((one) => ({ check: 'configuration', ...one })),
    ...machineFindings(await readFacts(sources), situation),
  ];
  return nodeName === undefined ? findings : findings.map((finding) => ({ ...finding, node: nodeName }));
}

async function examineCluster(
  { situation, nodeName }: OwnMachine,
  names: readonly string[],
  cluster: () => Cluster,
  clock: Clock,
): Promise<readonly Finding[]> {
  const check = 'api-server';
  try {
    const facts = await readCluster(cluster(), names, clock);
    // This machine is examined already.
    const nodes = facts.nodes.map((node) => (node.name === nodeName ? withAgentFindings(node) : node));
    return [{ check, ...ok('the API server answers') }, ...clusterFindings({ ...facts, nodes })];
  } catch (error) {
    if (error instanceof UsageError && names.length > 0) throw error;
    const found = `the nodes of the cluster were not examined: ${errorMessage(error)}`;
    if (situation.pid === undefined || !situation.hasMaster) return [{ check, ...note(found) }];
    return [{ check, ...fault(found, 'nothing of the cluster can be read or changed', situation.restart) }];
  }
}

/** Returns the node with only those findings that this process cannot make itself. */
function withAgentFindings(node: ClusterNodeFacts): ClusterNodeFacts {
  if ('problem' in node.answer) return node;
  const findings = node.answer.findings.filter(({ check }) => agentChecks.has(check));
  return { ...node, answer: { ...node.answer, findings } };
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
