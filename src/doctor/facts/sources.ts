/** What the readers of facts are given. */
import type { Exec } from '../../os/exec.ts';
import type { Situation } from '../situation.ts';

export interface Sources {
  readonly exec: Exec;
  readonly situation: Situation;
  /** File with the name servers for names outside the cluster. */
  readonly resolvConf: string;
  /** True to measure etcd's disk, which writes to it. */
  readonly measuresDisk: boolean;
}
