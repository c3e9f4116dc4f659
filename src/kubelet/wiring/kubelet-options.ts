/** Options of the node agent: all external parts that it uses, and its settings. */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import type { LoopMeter } from '../../base/event-loop/loop-meter.ts';
import type { Logger } from '../../base/log.ts';
import type { Family } from '../../base/metrics/exposition.ts';
import type { Random } from '../../base/random.ts';
import type { Tracer } from '../../base/tracing/span.ts';
import type { Client } from '../../client/client.ts';
import type { Informer, InformerFactory } from '../../client/informer.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { Exec } from '../../os/exec.ts';
import type { SysctlPattern } from '../containers/plan/sysctls.ts';
import type { DeviceSettings } from '../devices/node-devices.ts';
import type { ImageThresholds } from '../images/plan/images-to-free.ts';
import type { NodeFeature } from '../node/node-feature.ts';
import type { NodeFacts } from '../node/node-reporter.ts';
import type { NodeUsage, Threshold } from '../node/plan/eviction-thresholds.ts';
import type { ReportedConditions } from '../node/plan/node-conditions.ts';
import type { ReservedResources } from '../node/plan/node-status.ts';
import type { WantedPort } from '../pods/plan/host-ports.ts';
import type { LogRotation } from '../runtime/log-rotation.ts';
import type { PodNetwork } from '../runtime/pod-network.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { NodeServerSettings } from '../server/node-server.ts';

export interface KubeletOptions {
  readonly client: Client;
  /** Informers of this node alone: started and stopped with the agent. */
  readonly informers: InformerFactory;
  /**
   * Services of all namespaces. The caller starts the informer: the agent may read Services once its Node
   * exists.
   */
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  /** Network policies; undefined where there are none. */
  readonly policies:
    | {
        /** Resolves when the policies that select the pod are in force for one of its addresses. */
        protect(pod: Pod, ip: string): Promise<void>;
      }
    | undefined;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Undefined where tracing is off. */
  readonly tracer?: Tracer;
  /** Measures which work blocks the event loop; undefined where that is not measured. */
  readonly loopMeter?: LoopMeter;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** The node's address of IPv6; undefined if it has none. */
  readonly nodeIPv6?: string | undefined;
  readonly dataDir: string;
  /** Hardware and software of this machine. */
  readonly facts: NodeFacts;
  /** Name of the sandboxes' image, for the metrics. */
  readonly pauseImage?: string;
  /** Reads the archive from which the pause image is loaded. */
  readonly readPauseArchive: () => Promise<Uint8Array>;
  /**
   * The podCIDR with which a Node that has none is registered, or one of each family with a comma between
   * them; undefined: a controller assigns it.
   */
  readonly podCIDR?: string;
  readonly clusterDNS?: string;
  /** Default `cluster.local`. */
  readonly clusterDomain?: string;
  /** Path of this machine's resolver configuration; default /etc/resolv.conf. */
  readonly resolvConf?: string;
  /** Default 110. */
  readonly maxPods?: number;
  /** Resources reserved for the machine itself: the rest is allocatable. */
  readonly systemReserved?: ReservedResources;
  /** Directory of static pods' files; the node runs these pods independently of the API server. */
  readonly podManifestPath?: string;
  /** Interval of the node's checks and of its lease's renewal; default 10 seconds. */
  readonly heartbeatMs?: number;
  /** Thresholds for pressure and for evicting pods; default `defaultEvictionHard`. */
  readonly evictionHard?: readonly Threshold[];
  /** Thresholds for removing unused images that were pulled for pods; default `defaultImageThresholds`. */
  readonly imageGc?: ImageThresholds;
  /**
   * The log rotation that the agent reports in its configuration (the runtime rotates the logs); default
   * `defaultLogRotation`.
   */
  readonly logRotation?: LogRotation;
  /** Maximum number of images that are pulled at once; default 3. */
  readonly maxParallelImagePulls?: number;
  /** Reads the node's usage; default: from the kernel. */
  readonly readUsage?: () => Promise<NodeUsage>;
  /** Sysctls that pods may set in addition to the safe ones; default none. */
  readonly allowedUnsafeSysctls?: readonly SysctlPattern[];
  /** Devices that pods can request; absent for none. */
  readonly devices?: DeviceSettings;
  /** Features of minik8s on this node; default none. */
  readonly features?: readonly NodeFeature[];
  /** Number of sandboxes that are kept ready; default 4, 0 for none. */
  readonly sandboxPool?: number;
  /**
   * Client certificate (PEM) with which the agent authenticates to the API server; absent where it is not
   * known.
   */
  readonly identity?: Current<{ readonly certificate: string }>;
  /** Returns metrics of other parts of this process, for /metrics. */
  readonly counted?: () => readonly Family[];
  /** Metrics of other parts of this node by name, served at /metrics/NAME of the agent's server. */
  readonly pages?: Readonly<Record<string, () => readonly Family[]>>;
  /** Examines this node for `minik8s doctor`, at /doctor of the agent's server; absent: not offered. */
  readonly doctor?: () => Promise<object>;
  /** Reads the connections to Services, at /stats/services of the agent's server; absent: not offered. */
  readonly serviceConnections?: () => Promise<object>;
  /** Settings of the agent's server; absent: no server runs. */
  readonly server?: NodeServerSettings;
  /**
   * Rejects with a message of one line when a program on this machine listens on the port. Absent: not
   * checked.
   */
  readonly requireFreePort?: (port: WantedPort) => Promise<void>;
  /** Conditions of the Node that other parts of this node report. */
  readonly conditions?: Current<ReportedConditions>;
  /** Called when this node's Node exists: before that the API server rejects most reads of the agent. */
  readonly onRegistered?: () => void;
  /** Called when the Node's status reports that pods can run here; may be called more than once. */
  readonly onReady?: () => void;
  /** Annotations that the node keeps on its Node. */
  readonly annotations?: Current<Readonly<Record<string, string>>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<NonNullable<Node['spec']>['taints']>;
  /** Called when this node's Node was deleted; absent: the node registers again. */
  readonly onRemoved?: () => void;
}
