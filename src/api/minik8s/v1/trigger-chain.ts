/** The triggers that have led to something, each by what the one before called. By it circles of triggers are seen. Pure. */
import type { ObjectMeta } from '../../../apimachinery/meta.ts';

/** Annotation of a WorkflowRun or Job, and header of a call: NAMESPACE/NAME of each Trigger with commas between, the first one first. */
export const chainAnnotation = 'minik8s.io/trigger-chain';
export const chainHeader = 'function-trigger-chain';

/** NAMESPACE/NAME of each, the first one first. */
export type TriggerChain = readonly string[];

const one = /^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/;
/** One more than are delivered. */
export const longestChain = 17;

export const chainText = (chain: TriggerChain): string => chain.join(',');

/** What is none is empty. */
export function chainOf(text: string | null | undefined): TriggerChain {
  const chain = (text ?? '').split(',', longestChain);
  return chain.every((name) => one.test(name)) ? chain : [];
}

export const chainOfObject = ({ annotations }: Pick<ObjectMeta, 'annotations'>): TriggerChain =>
  chainOf(annotations?.[chainAnnotation]);

/** For what is made on behalf of something with that chain. */
export const chainAnnotations = (chain: TriggerChain): Record<string, string> =>
  chain.length === 0 ? {} : { [chainAnnotation]: chainText(chain) };
