/** Reads the facts about one minik8s of this machine. Each source has its own timeout. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { answerWithin } from '../../base/answer-within.ts';
import { errorMessage } from '../../base/log.ts';
import { version } from '../../base/version.ts';
import type { CtlIo } from '../../cli/verb.ts';
import { dockerClient } from '../../docker/client.ts';
import { runsPods } from '../../installation/plan/role.ts';
import { serviceCommand } from '../../installation/plan/service-manager.ts';
import { serviceHere } from '../../installation/services.ts';
import { systemExec } from '../../os/exec.ts';
import { ifThere } from '../../os/if-there.ts';
import { findCertificates } from '../certs/certificate-files.ts';
import { checkCertificates } from '../certs/check-plan.ts';
import type { OwnProcess } from '../running/processes.ts';
import { type RunRecord, readRunRecord } from '../running/run-record.ts';
import { settingTable } from '../settings/setting-table.ts';
import { type ClusterState, readClusterState } from './cluster-state.ts';
import type { CertificateEnd, Known, RunningFacts } from './facts.ts';

/** Timeout of each source in milliseconds. */
export const sourceMs = 5_000;

export async function readRunningFacts(io: CtlIo, found: OwnProcess): Promise<RunningFacts> {
  const { role, pid, service, dataDir, executable } = found;
  const record = await recordOf(found);
  const [fileVersion, state, engine, etcdBytes, certificate] = await Promise.all([
    fileVersionOf(found),
    stateOf(io, found, record),
    engineOf(io, found, record),
    dataDir === undefined ? undefined : databaseSize(dataDir),
    dataDir === undefined ? undefined : nextEnd(io, dataDir),
  ]);
  return {
    ...{ role, pid },
    ...(service && { service }),
    ...(dataDir !== undefined && { dataDir }),
    ...(executable !== undefined && { executable: executable.replace(/ \(deleted\)$/, '') }),
    ...(record && ownFacts(record)),
    ...(fileVersion !== undefined && { fileVersion }),
    ...state,
    ...(engine && { engine }),
    ...(etcdBytes !== undefined && { etcdBytes }),
    ...(certificate && { certificate }),
  };
}

const ownFacts = ({ version: ofProcess, startedAt, configFile, log }: RunRecord) => ({
  ...{ version: ofProcess, startedAt, log },
  ...(existsSync(configFile) && { configFile }),
});

/** Resolves to the record of the process; undefined if it has none, or a former process has written it. */
async function recordOf({ dataDir, identity }: OwnProcess): Promise<RunRecord | undefined> {
  if (dataDir === undefined) return undefined;
  const record = await readRunRecord(dataDir).catch(() => undefined);
  return record?.process === identity ? record : undefined;
}

/**
 * Resolves to the version of the process's file as it is now. A file is run only if nobody but root and this
 * user can have written it.
 */
async function fileVersionOf({ executable, words }: OwnProcess): Promise<string | undefined> {
  const path = executable?.replace(/ \(deleted\)$/, '');
  if (path === undefined || !(words[1] !== undefined && /^[a-z]+$/.test(words[1]))) return undefined;
  if (path === process.execPath && executable === path) return version();
  const found = statSync(path, { throwIfNoEntry: false });
  const owners: readonly (number | undefined)[] = [0, process.getuid?.()];
  if (!found?.isFile() || !owners.includes(found.uid) || (found.mode & 0o022) !== 0) return undefined;
  const ran = systemExec(path, ['version'], { timeoutMs: sourceMs });
  return ran.then(
    ({ stdout }) => stdout.trim().split('\n', 1)[0],
    () => undefined,
  );
}

const stateOf = (io: CtlIo, found: OwnProcess, record: RunRecord | undefined): Promise<ClusterState> => {
  const { dataDir, role } = found;
  if (dataDir === undefined) return Promise.resolve({});
  if (role !== 'node') {
    const kubeconfig = join(dataDir, 'admin.conf');
    return isReadable(kubeconfig)
      ? readClusterState(io, ['--kubeconfig', kubeconfig]).then((state) => ({ kubeconfig, ...state }))
      : Promise.resolve({ api: { problem: `${kubeconfig} is not there yet: it is starting` } });
  }
  const [server] = record?.servers ?? [];
  const pem = join(dataDir, 'node', 'client.pem');
  if (server === undefined || !isReadable(pem))
    return Promise.resolve({ api: { problem: 'this node has not joined yet' } });
  const files = {
    'certificate-authority': join(dataDir, 'node', 'ca.crt'),
    'client-certificate': pem,
    'client-key': pem,
  };
  const flags = Object.entries(files).map(([name, file]) => `--${name}=${file}`);
  return readClusterState(io, [`--server=${server}`, ...flags], record?.nodeName);
};

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

async function engineOf(
  io: CtlIo,
  { role, dataDir }: OwnProcess,
  record: RunRecord | undefined,
): Promise<Known<string> | undefined> {
  if (!runsPods(role) || dataDir === undefined) return undefined;
  const docker = dockerClient(record?.dockerSocket ?? settingTable['docker-socket'].default);
  try {
    const answer = await answerWithin(io.clock, sourceMs, docker.version());
    return answer ? { value: answer.Version } : { problem: `no answer within ${sourceMs / 1000} s` };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

const databaseSize = async (dataDir: string): Promise<number | undefined> =>
  (await ifThere(stat(join(dataDir, 'etcd/data/member/snap/db'))).catch(() => undefined))?.size;

async function nextEnd(io: CtlIo, dataDir: string): Promise<CertificateEnd | undefined> {
  const found = await findCertificates({ dataDir, configDirectory: '/etc/minik8s' }).catch(() => []);
  const restart = serviceCommand(serviceHere(), 'restart');
  const ends = checkCertificates(found, { now: io.clock.now(), withinDays: 0, restart }).flatMap(
    ({ path, notAfter, daysLeft }) =>
      notAfter === undefined || daysLeft === undefined ? [] : [{ path, notAfter, daysLeft }],
  );
  return ends.sort((a, b) => a.notAfter.localeCompare(b.notAfter))[0];
}
