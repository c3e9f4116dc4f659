/** `minik8s stop`: stops the minik8s of this machine, however it was started. Its pods keep running. */
import { existsSync } from 'node:fs';
import { answerWithin } from '../base/answer-within.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import type { FlagTable } from '../cli/flags/flags.ts';
import type { CtlIo, Verb } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { dockerClient } from '../docker/client.ts';
import { runsPods } from '../installation/plan/role.ts';
import { serviceCommand, serviceWords } from '../installation/plan/service-manager.ts';
import { controlOf } from '../installation/services.ts';
import { labels } from '../kubelet/runtime/docker-labels.ts';
import { type Exec, systemExec } from '../os/exec.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { noneText, readAbsence } from './running/absence.ts';
import { type OwnProcess, ownProcesses } from './running/processes.ts';
import { type RunRecord, readRunRecord } from './running/run-record.ts';
import { environmentOf, startCommand } from './running/start-command.ts';
import {
  commandFor,
  ofOtherRoles,
  onlyOne,
  otherRoleText,
  type Target,
  targetFlags,
  targetOf,
} from './running/targets.ts';
import { settingTable } from './settings/setting-table.ts';
import { stopProcess } from './stop/stop-process.ts';
import { ownerOf } from './worker/owner.ts';

const flagTable = {
  timeout: {
    type: 'string',
    hint: 'TIME',
    about: 'time to wait for the end, such as 30s or 2m',
    usual: '2m',
  },
  ...targetFlags,
} as const satisfies FlagTable;

const defaultMs = 120_000;
/** Timeout in milliseconds of the question to Docker which pods run. */
const engineMs = 3_000;

const stop: Verb = {
  about: 'stop the minik8s of this machine; its pods keep running',
  examples: ['stop # stop minik8s; its pods keep running', 'stop --timeout 30s # wait no longer'],
  flags: flagTable,
  async run({ flags, io }) {
    const timeoutMs = flags.duration('timeout') ?? defaultMs;
    const target = targetOf(flags);
    const processes = ownProcesses();
    const found = onlyOne(processes, target, 'stop');
    if (found === undefined) return stopNone(io, target, ofOtherRoles(processes, target));
    requireRights(found);
    const { dataDir = '', pid } = found;
    const record = await readRunRecord(dataDir).catch(() => undefined);
    const own = record?.process === found.identity ? record : undefined;
    const again = startCommand(found, environmentOf(pid), own?.log);
    const service = (await isMainProcess(systemExec, found)) ? found.service : undefined;
    const options = { exec: systemExec, clock: io.clock, progress: io.progress, signal: io.signal };
    if (!(await stopProcess(found, { ...options, timeoutMs, service })))
      throw new Error(
        `minik8s ${found.role} (process ${pid}) still runs ${timeoutMs / 1000} s after it was asked to stop; ` +
          `minik8s logs --data-dir ${dataDir} shows what it does, and kill -9 ${pid} ends it at once`,
      );
    io.out(`minik8s ${found.role} (process ${pid}) has stopped\n`);
    io.out(await leftText(io, found, own));
    io.out(`start it again: ${again}\n`);
  },
};

/**
 * Stops a service of systemd that has no process at the moment because it is between two starts. Rejects if
 * an `up` holds the wanted role: the `up` keeps running.
 */
async function stopNone(io: CtlIo, target: Target, others: readonly OwnProcess[]): Promise<void> {
  const holder = others.find(({ role }) => role === 'up');
  if (target.role !== undefined && holder !== undefined)
    throw new Error(
      `there is no minik8s ${target.role} by itself: ${otherRoleText(holder, target.role)}, still runs; ` +
        `to stop it: ${commandFor('stop', holder)}`,
    );
  const absence = await readAbsence(target, existsSync);
  const { service } = absence;
  if (service && (target.role ?? absence.lastRun?.role) === absence.lastRun?.role) {
    const state = await controlOf(service.manager)
      .state(systemExec)
      .catch(() => 'inactive');
    if (!['inactive', 'failed'].includes(state)) {
      const [program, ...words] = serviceWords(service, 'stop');
      await systemExec(program, words, { timeoutMs: defaultMs });
      io.out(`${service.name}, which was ${state}, has stopped\n`);
      io.out(`start it again: ${serviceCommand(service, 'start')}\n`);
      return;
    }
  }
  io.out(noneText(absence, others));
}

/** Throws if only another user may end the process. */
function requireRights({ uid, pid }: OwnProcess): void {
  const own = process.getuid?.();
  if (own !== 0 && uid !== own) throw new Error(`process ${pid} belongs to root: run sudo minik8s stop`);
}

/** Resolves to true if the service manager itself started the process and would restart it. */
async function isMainProcess(exec: Exec, { service, pid }: OwnProcess): Promise<boolean> {
  if (service?.manager !== 'systemd') return service !== undefined;
  const shown = await exec('systemctl', ['show', '--property', 'MainPID', '--value', service.name], {
    timeoutMs: engineMs,
  }).catch(() => undefined);
  return shown?.stdout.trim() === String(pid);
}

/** Returns the text about what keeps running after minik8s has stopped on this machine. */
async function leftText(io: CtlIo, { role, dataDir = '' }: OwnProcess, record?: RunRecord): Promise<string> {
  if (!runsPods(role))
    return 'the nodes keep running their pods; nothing can be changed until a master runs again\n';
  const docker = dockerClient(record?.dockerSocket ?? settingTable['docker-socket'].default);
  const filters = { label: [`${labels.owner}=${ownerOf(dataDir)}`, `${labels.role}=sandbox`] };
  const pods = await answerWithin(io.clock, engineMs, docker.listContainers({ filters })).catch(
    () => undefined,
  );
  const count = pods === undefined ? 'its pods' : `${pods.length} pod${pods.length === 1 ? '' : 's'}`;
  const keeps = pods?.length === 1 ? 'keeps' : 'keep';
  const text = `${count} ${keeps} running in Docker; nothing restarts or changes them until minik8s runs again\n`;
  return role === 'node'
    ? `${text}the masters report the node as NotReady soon, and move its pods after minutes\n`
    : text;
}

export const stopCommand = (io: CtlIo): AnyCommand => toCommand(stop, io, 'stop');

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  stopCommand(processIo({ kubernetesFields, features: noFeatures }));
