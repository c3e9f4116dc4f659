/** A port of this machine that leads into a pod. */
export interface HostPort {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** '' for every address of this machine. */
  readonly hostIP: string;
  readonly hostPort: number;
  readonly podIP: string;
  readonly containerPort: number;
}
