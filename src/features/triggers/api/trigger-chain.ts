/**
 * The chain of triggers that have led to an object or a call. Cycles of triggers are detected by it. Pure.
 */
import type { ObjectMeta } from '../../../apimachinery/meta.ts';

/**
 * Annotation of a WorkflowRun or Job, and header of a call: NAMESPACE/NAME of each Trigger separated by
 * commas, the first one first.
 */
export const chainAnnotation = 'minik8s.io/trigger-chain';
export const chainHeader = 'function-trigger-chain';

/** NAMESPACE/NAME of each Trigger, the first one first. */
export type TriggerChain = readonly string[];

const one = /^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/;
/** Maximum length of a chain: one more than the maximum that is delivered. */
export const maxChainLength = 17;

export const chainText = (chain: TriggerChain): string => chain.join(',');

/** Parses a chain; an invalid text gives an empty chain. */
export function chainOf(text: string | null | undefined): TriggerChain {
  const chain = (text ?? '').split(',', maxChainLength);
  return chain.every((name) => one.test(name)) ? chain : [];
}

export const chainOfObject = ({ annotations }: Pick<ObjectMeta, 'annotations'>): TriggerChain =>
  chainOf(annotations?.[chainAnnotation]);

/** Returns the annotations of an object that is created on behalf of the chain. */
export const chainAnnotations = (chain: TriggerChain): Record<string, string> =>
  chain.length === 0 ? {} : { [chainAnnotation]: chainText(chain) };
