/** Kernel features that a node's network requires, and how a failed try of one is understood. Pure. */

export interface KernelFeature {
  /** Name of the feature in messages. */
  readonly what: string;
  /** Package of the program that uses the feature. */
  readonly packageName: string;
  readonly module: string;
  readonly why: string;
  /** Program with arguments and standard input that fails if the feature is missing, and changes nothing. */
  readonly program: string;
  readonly args: readonly string[];
  readonly input?: string;
}

const vxlan = ['link', 'add', 'name', 'try', 'type', 'vxlan', 'id', '1', 'dstport', '0'];

export const kernelFeatures = {
  nft: {
    what: 'nft',
    packageName: 'nftables',
    module: 'nf_tables',
    why: 'Services are rules of nftables',
    program: 'nft',
    // The option -c changes nothing, but the kernel checks the rules.
    args: ['-c', '-f', '-'],
    input: 'add table ip minik8s-try\n',
  },
  iptables: {
    what: 'iptables',
    packageName: 'iptables',
    module: 'ip_tables',
    why: "pods' packets are accepted by a rule beside those of Docker",
    program: 'iptables',
    args: ['-w', '-n', '-L', 'FORWARD'],
  },
  vxlan: {
    what: 'a vxlan link',
    packageName: 'iproute2',
    module: 'vxlan',
    why: 'packets to pods of other nodes travel in VXLAN',
    program: 'unshare',
    // The test runs in a network namespace of its own, which ends with the program: nothing is left behind if
    // this process is killed.
    args: ['--net', 'ip', ...vxlan],
  },
} as const satisfies Readonly<Record<string, KernelFeature>>;

export type KernelFeatureName = keyof typeof kernelFeatures;

/** Failure of a program that tried a feature. */
export interface Lack {
  /** `missing`: the program is not installed; `forbidden`: without the rights; `refused`: by the kernel. */
  readonly cause: 'missing' | 'forbidden' | 'refused';
  readonly reason: string;
}

/** Returns the kind of a failure; `code` is the exit status, which is absent if the program did not start. */
export function lackOf(reason: string, code: number | undefined, stderr: string): Lack {
  if (code === undefined) return { cause: 'missing', reason };
  const isForbidden = /not permitted|permission denied/i.test(stderr);
  return { cause: isForbidden ? 'forbidden' : 'refused', reason };
}
