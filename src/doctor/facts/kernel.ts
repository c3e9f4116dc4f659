/** Reads which features the kernel has. */
import { release } from 'node:os';
import { tryFeature } from '../../installation/kernel-trial.ts';
import { kernelFeatures } from '../../installation/plan/kernel-features.ts';
import type { KernelFacts } from '../checks/kernel.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

export async function readKernel({ exec, situation }: Sources): Promise<KernelFacts> {
  const { hasNode, overlay } = situation;
  const names = hasNode
    ? (['nft', 'iptables', ...(overlay === 'vxlan' ? ['vxlan' as const] : [])] as const)
    : [];
  const lacks = await Promise.all(
    names.map(async (name) => [name, await tryFeature(exec, kernelFeatures[name])] as const),
  );
  const fileSystems = (await textOf('/proc/filesystems'))
    .split('\n')
    .map((line) => line.split('\t').at(-1) ?? '');
  const [count, max] = await Promise.all(
    ['count', 'max'].map((name) => textOf(`/proc/sys/net/netfilter/nf_conntrack_${name}`)),
  );
  const conntrack = count && max ? { conntrack: { count: Number(count), max: Number(max) } } : {};
  return { release: release(), fileSystems, lacks: Object.fromEntries(lacks), ...conntrack };
}
