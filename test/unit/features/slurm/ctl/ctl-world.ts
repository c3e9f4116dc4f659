/** Verbs of `ctl slurm` over the API server in this process, with the pieces of output that a test stores. */
import type { TestContext } from 'node:test';
import { isRecord, type JsonObject } from '../../../../../src/apimachinery/equality.ts';
import { clusterOver } from '../../../../../src/cli/connection/cluster.ts';
import { Flags, type FlagTable } from '../../../../../src/cli/flags/flags.ts';
import type { CtlIo, Verb } from '../../../../../src/cli/verb.ts';
import { inProcessTransport } from '../../../../../src/client/in-process-transport.ts';
import { admin, startTestServer } from '../../../../fixtures/api-server.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';

const group = '/apis/minik8s.io/v1/namespaces/default';

export async function ctlWorld(context: TestContext) {
  const server = await startTestServer();
  context.after(() => server.stop());
  const printed = { out: '', err: '' };
  const reported: string[] = [];
  const io = {
    out(text: string) {
      printed.out += text;
    },
    err(text: string) {
      printed.err += text;
    },
    clock: server.clock,
    random: new SeededRandom(1),
    signal: new AbortController().signal,
    env: {},
  } as unknown as CtlIo;
  const transport = inProcessTransport(server.handlerFor(admin));
  const cluster = clusterOver(transport, io, {
    ...{ namespace: 'default', namespaceGiven: false, requestId: 'r' },
    dial: () => {
      throw new Error('no connection is upgraded');
    },
  });
  const call = async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { 'content-type': type };
    const answer = await server.call(method, group + path, body, { headers });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.json<JsonObject>();
  };
  const flagsOf = (table: FlagTable, argv: readonly string[]) => new Flags(table, argv);
  return {
    ...{ server, io, cluster, printed, reported },
    /** Runs a verb with these words and flags. */
    run: (verb: Verb, ...argv: readonly string[]) =>
      verb.run({
        ...{ io, flags: flagsOf(verb.flags ?? {}, argv), palette: {} as never, cluster: () => cluster },
        report: (error) => void reported.push(String(error)),
      }),
    create: (name: string) =>
      call('POST', '/slurmjobs', {
        ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob', metadata: { name } },
        spec: { connection: { secretName: 'login' }, run: ['true'] },
      }),
    setStatus: (name: string, status: object) =>
      call('PATCH', `/slurmjobs/${name}/status`, { status }, 'application/merge-patch+json'),
    get: async (name: string) => (await server.call('GET', `${group}/slurmjobs/${name}`)).json<JsonObject>(),
    remove: (name: string) => server.call('DELETE', `${group}/slurmjobs/${name}`),
    /** Stores a piece of a file as the client of the job does. */
    async wrote(job: JsonObject, kind: string, path: string, offset: number, bytes: Uint8Array) {
      const metadata = isRecord(job.metadata) ? job.metadata : {};
      await call('POST', '/slurmfiles', {
        ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmFile', metadata: { generateName: 'piece-' } },
        spec: {
          ...{ job: metadata.name, jobUID: metadata.uid, kind, path, offset, length: bytes.length },
          data: Buffer.from(bytes).toString('base64'),
        },
      });
    },
  };
}
