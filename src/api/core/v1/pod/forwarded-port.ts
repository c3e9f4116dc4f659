/** A port of this machine that is forwarded to a pod. */
export interface HostPort {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Address of this machine; empty for every address. */
  readonly hostIP: string;
  readonly hostPort: number;
  readonly podIP: string;
  readonly containerPort: number;
}
