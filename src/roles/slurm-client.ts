/**
 * `minik8s slurm-client`: runs the SlurmJobs of one connection, in the pod that the control plane creates for
 * it.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { defineCommand } from 'citty';
import { stopSignal } from '../base/abort.ts';
import { isIPv6 } from '../base/addresses.ts';
import { UsageError } from '../base/usage-error.ts';
import { headingOf } from '../cli/flags/flag-groups.ts';
import { createHttpsTransport } from '../client/https-transport.ts';
import { createClient } from '../client/rest-client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import { runLeaderElection } from '../controller-runtime/leader-election.ts';
import { slurmClientLease, slurmConnectionDirectory } from '../features/slurm/api/slurm-client-pod.ts';
import { slurmJobResource } from '../features/slurm/api/slurm-job.ts';
import { runSlurmClient } from '../features/slurm/client/slurm-client.ts';
import { processContext } from './process-context.ts';
import { settingRows } from './settings/setting-table.ts';
import { readSettings } from './settings/settings.ts';
import { ClusterStore } from './slurm/cluster-store.ts';
import { followConnection } from './slurm/connection-files.ts';

/** Directory of the service account's credentials in a pod. */
const account = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The file exists only if the image has one; the pod's environment configures the log. */
const configFile = '/etc/minik8s/slurm-client.yaml';

export const command = defineCommand({
  meta: { description: 'run the SlurmJobs of one connection, in the pod that the cluster makes for it' },
  ...{ examples: ['slurm-client --namespace jobs --secret hpc # what the pod of a connection runs'] },
  args: {
    namespace: {
      type: 'string',
      required: true,
      valueHint: 'NAME',
      ...{ description: 'the namespace of the jobs', group: headingOf('namespace', {}) },
    },
    secret: {
      type: 'string',
      required: true,
      valueHint: 'NAME',
      ...{ description: 'the Secret of the connection', group: headingOf('namespace', {}) },
    },
  },
  run: ({ args: { namespace, secret } }) => client(namespace, secret, stopSignal()),
});

async function client(namespace: string, secretName: string, signal: AbortSignal): Promise<void> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port) throw new UsageError('minik8s slurm-client runs in a pod of a cluster');
  const context = processContext(
    readSettings(settingRows('slurm-client'), {
      command: 'minik8s slurm-client',
      flags: {},
      environment: process.env,
      configFile,
    }),
  );
  const { log } = context;
  const transport = createHttpsTransport({
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    ca: readFileSync(join(account, 'ca.crt'), 'utf8'),
    // The token file is replaced while the process runs.
    token: () => readFileSync(join(account, 'token'), 'utf8'),
    userAgent: 'minik8s-slurm-client',
    clock: context.clock,
  });
  try {
    const api = createClient(transport);
    const informers = createInformerFactory({ ...context, client: api });
    const informer = informers.informerFor(slurmJobResource, { namespace });
    const connection = await followConnection(slurmConnectionDirectory, log, signal);
    await informers.start(signal);
    const store = new ClusterStore({ client: api, namespace, secretName, informer });
    const lead = (until: AbortSignal) => {
      const running = runSlurmClient({ ...context, store, connection, signal: until });
      log.warnOfUnknownComponents();
      return running;
    };
    const config = { namespace, name: slurmClientLease(secretName), identity: hostname() };
    await runLeaderElection({ ...context, client: api, config, lead }, signal);
    await informers.stopped();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    transport.close();
  }
}
