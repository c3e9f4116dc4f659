/** What a node agent is made of: everything outside of it that it works with, and its settings. */
import type { Node } from '../api/core/v1/node.ts';
import type { Service } from '../api/core/v1/service.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Exec } from '../base/exec.ts';
import type { Family } from '../base/exposition.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Client } from '../client/client.ts';
import type { Informer, InformerFactory } from '../client/informer.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import type { SysctlPattern } from './containers/plan/sysctls.ts';
import type { DeviceSettings } from './devices/node-devices.ts';
import type { BuildEngine } from './functions/build-engine.ts';
import type { ImageThresholds } from './images/plan/images-to-free.ts';
import type { NodeFacts } from './node/node-agent.ts';
import type { NodeUsage, Threshold } from './node/plan/eviction-thresholds.ts';
import type { ReportedConditions } from './node/plan/node-conditions.ts';
import type { ReservedResources } from './node/plan/node-status.ts';
import type { WantedPort } from './pods/plan/host-ports.ts';
import type { LogRotation } from './runtime/log-rotation.ts';
import type { PodNetwork } from './runtime/pod-network.ts';
import type { ContainerRuntime } from './runtime/runtime.ts';
import type { KubeletTls } from './server/server.ts';

export interface KubeletOptions {
  readonly client: Client;
  /** This node's own: it is started and stopped with the agent. */
  readonly informers: InformerFactory;
  /** Of all namespaces, started by the caller: the agent may read them once its Node is there. */
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Absent where nothing is traced. */
  readonly tracer?: Tracer;
  /** Measures what holds the event loop; default nothing does. */
  readonly loopMeter?: LoopMeter;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly dataDir: string;
  /** What this machine is and has. */
  readonly facts: NodeFacts;
  /** What sandboxes are made of, for who reads metrics. */
  readonly pauseImage?: string;
  /** The archive the pause image is loaded from. */
  readonly readPauseArchive: () => Promise<Uint8Array>;
  /** What a Node that has no range yet is registered with; undefined: a controller gives it one. */
  readonly podCIDR?: string;
  readonly clusterDNS?: string;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
  /** The file that says how this machine resolves names; default /etc/resolv.conf. */
  readonly resolvConf?: string;
  /** Default 110. */
  readonly maxPods?: number;
  /** Kept for the machine itself: the rest is allocatable. */
  readonly systemReserved?: ReservedResources;
  /** Of files that describe pods for this node to run, whatever the API server has. */
  readonly podManifestPath?: string;
  /** How often the node is looked at and its lease renewed; default 10 seconds. */
  readonly heartbeatMs?: number;
  /** When the node is short of something and pods are evicted; default `defaultEvictionHard`. */
  readonly evictionHard?: readonly Threshold[];
  /** When images that pods brought and nobody uses are removed; default `defaultImageThresholds`. */
  readonly imageGc?: ImageThresholds;
  /** What the agent says of the logs of its containers, which the runtime rotates; default `defaultLogRotation`. */
  readonly logRotation?: LogRotation;
  /** How many images are pulled at once; default 3. */
  readonly maxParallelImagePulls?: number;
  /** Default: what the kernel says. */
  readonly readUsage?: () => Promise<NodeUsage>;
  /** Kernel parameters that pods may set besides those that are safe; default none. */
  readonly allowedUnsafeSysctls?: readonly SysctlPattern[];
  /** Folders of this machine that triggers may watch, with what is in them; default none. Absolute. */
  readonly watchFolders?: readonly string[];
  /** Which devices pods can ask for; absent: none. */
  readonly devices?: DeviceSettings;
  /** Builds the images of functions; absent: this node cannot. */
  readonly builds?: BuildEngine;
  /** Of this process; absent: empty. Installations of functions' libraries reach their indexes as it says. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The path of the one file, of which images are made; absent where this process is not it. */
  readonly program?: string;
  /** Ready sandboxes; default 4, 0 for none. */
  readonly sandboxPool?: number;
  /** With which it asks the API server; absent where that is not known. PEM. */
  readonly identity?: Current<{ readonly certificate: string }>;
  /** What other parts of this process count for the agent, for /metrics. */
  readonly counted?: () => readonly Family[];
  /** Pages of metrics of other parts of this node, by their name: /metrics/NAME of the agent's server. */
  readonly pages?: Readonly<Record<string, () => readonly Family[]>>;
  /** Absent: no server for logs. */
  readonly server?: { readonly hosts: readonly string[]; readonly port: number; readonly tls: KubeletTls };
  /** Rejects, in one line, when something on this machine listens on the port. Absent: not looked for. */
  readonly requireFreePort?: (port: WantedPort) => Promise<void>;
  /** What other parts of this node say of it: conditions of its Node. */
  readonly conditions?: Current<ReportedConditions>;
  /** Called when this node's Node is there: until then it may read little else. */
  readonly onRegistered?: () => void;
  /** Called when the Node's status says that pods can run here; perhaps more than once. */
  readonly onReady?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
  /** Called when this node's Node was deleted; absent: it registers again. */
  readonly onRemoved?: () => void;
}
