/** Names of the features, and the setting that chooses some of them. */
import { nearest } from '../terminal/nearest.ts';

export const featureNames = [
  'functions',
  'gateway',
  'host-names',
  'images',
  'ingress',
  'slurm',
  'triggers',
  'workflows',
] as const;

export type FeatureName = (typeof featureNames)[number];

/** Features whose objects a feature watches, by its name. */
const needs: Partial<Record<FeatureName, readonly FeatureName[]>> = {
  triggers: ['functions', 'workflows'],
  workflows: ['functions'],
};

/**
 * Reads names such as `functions,workflows`, or `none`; returns each once, in the order of `featureNames`.
 * Throws an Error that names an unknown feature, or a feature that is needed and missing.
 */
export function readFeatures(value: string): readonly FeatureName[] {
  if (value.trim() === 'none') return [];
  const words = value.split(',').map((word) => word.trim());
  for (const word of words) if (!isFeature(word)) throw new Error(unknown(word));
  const chosen = featureNames.filter((name) => words.includes(name));
  for (const name of chosen) {
    const missing = (needs[name] ?? []).filter((other) => !chosen.includes(other));
    if (missing.length > 0) throw new Error(`${name} needs ${missing.join(' and ')} too`);
  }
  return chosen;
}

const isFeature = (word: string): word is FeatureName => (featureNames as readonly string[]).includes(word);

function unknown(word: string): string {
  const [near] = nearest(word, featureNames);
  const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
  return `there is no feature ${word}${hint}: expected none, or some of ${featureNames.join(',')}`;
}
