/** Options of a node's part of a process. */
import { join } from 'node:path';
import type { Current } from '../../base/current.ts';
import type { Transport } from '../../client/transport.ts';
import { DockerRuntime, type DockerRuntimeOptions } from '../../kubelet/runtime/docker.ts';
import { readAsset } from '../../os/assets.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import type { NodeContext } from '../process-context.ts';
import type { TaintValue } from '../settings/node-values.ts';
import type { PartSettings, Settings } from '../settings/setting-table.ts';
import { ownerOf } from './owner.ts';

export interface WorkerOptions extends NodeContext {
  readonly settings: PartSettings<'node'>;
  /** Transport to the API server, authenticated as this node; the caller closes it. */
  readonly transport: Transport;
  /** PEM of the cluster's authorities. */
  readonly authority: Current<string>;
  /** Client certificate of the transport. */
  readonly identity: Current<KeyAndCertificate>;
  /** Certificate of the agent's own server. */
  readonly serving: Current<KeyAndCertificate | undefined>;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** The node's address of IPv6; undefined in a cluster without IPv6, and if the machine has none. */
  readonly nodeIPv6?: string | undefined;
  /** Addresses of this machine at which the agent's own server listens. */
  readonly listenAddresses: readonly string[];
  /** Called when the Node's status is ready for pods; may be called more than once. */
  readonly onReady?: () => void;
  /** Called when this node's Node was deleted; if absent, the node registers again. */
  readonly onRemoved?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly TaintValue[];
  readonly podCIDR?: string;
}

export const pauseImage = () => readAsset('pause.reference').toString('utf8').trim();

export function workerRuntime(
  settings: Settings<'data-dir' | 'docker-socket'>,
  { clock, exec }: Pick<NodeContext, 'clock' | 'exec'>,
  more: Pick<DockerRuntimeOptions, 'logRotation' | 'maxPids'> = {},
): DockerRuntime {
  return new DockerRuntime({
    socketPath: settings['docker-socket'],
    owner: ownerOf(settings['data-dir']),
    pauseImage: pauseImage(),
    initPath: join(settings['data-dir'], 'kubelet/pause'),
    clock,
    exec,
    ...more,
  });
}
