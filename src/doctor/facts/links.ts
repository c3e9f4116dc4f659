/** Reads the links that carry packets of pods. */
import { readUnderlay } from '../../network/overlay/kernel.ts';
import { defaultNames } from '../../network/rules.ts';
import type { LinkFacts } from '../checks/links.ts';
import type { Sources } from './sources.ts';

interface LinkJson {
  readonly ifname?: string;
  readonly mtu?: number;
}

export async function readLinks({ exec, situation }: Sources): Promise<LinkFacts> {
  const { nodeIP } = situation;
  const underlay = nodeIP === undefined ? undefined : await readUnderlay(exec, nodeIP);
  const { stdout } = await exec('ip', ['-json', 'link', 'show']);
  const links = (JSON.parse(stdout || '[]') as readonly LinkJson[]).flatMap(({ ifname, mtu }) =>
    ifname === undefined || mtu === undefined ? [] : [{ name: ifname, mtu }],
  );
  const overlay = links.find(({ name }) => name === defaultNames.vxlanLink);
  return {
    ...(underlay && { underlay: { name: underlay.dev, mtu: underlay.mtu } }),
    ...(overlay && { overlay }),
    pods: links.filter(({ name }) => /^[0-9a-f]{8}$/.test(podSuffix(name))),
  };
}

/**
 * Returns the end of a link's name after the prefix of pods' links: the pod's address in hexadecimal digits.
 */
const podSuffix = (name: string): string =>
  name.startsWith(defaultNames.linkPrefix) ? name.slice(defaultNames.linkPrefix.length) : '';
