/** Parameters of the readers of facts. */
import type { Clock } from '../../base/clock.ts';
import type { Exec } from '../../os/exec.ts';
import type { ServedFacts } from '../checks/served.ts';
import type { Situation } from '../situation.ts';

export interface Sources {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly situation: Situation;
  /** File with the name servers for names outside the cluster. */
  readonly resolvConf: string;
  /** Reads what the parts of the agent serve; absent outside the agent. */
  readonly served?: () => Promise<Omit<ServedFacts, 'listeners'>>;
  /** True to measure etcd's disk, which writes to it. */
  readonly measuresDisk: boolean;
}
