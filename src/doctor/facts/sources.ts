/** Parameters of the readers of facts. */
import type { Clock } from '../../base/clock.ts';
import type { Exec } from '../../os/exec.ts';
import type { Situation } from '../situation.ts';

export interface Sources {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly situation: Situation;
  /** File with the name servers for names outside the cluster. */
  readonly resolvConf: string;
  /** True to measure etcd's disk, which writes to it. */
  readonly measuresDisk: boolean;
}
