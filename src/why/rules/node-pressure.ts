import { textAt } from '../../apimachinery/fields.ts';
import { conditionOf, oneLine } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

const pressures = {
  MemoryPressure: 'memory',
  DiskPressure: 'disk space',
  PIDPressure: 'process ids',
} as const;

export const nodePressure: Rule = {
  kinds: ['nodes'],
  symptom: 'A node evicts pods and takes no new ones.',
  cause: 'It is short of memory, disk space or process ids.',
  advice: 'Free what it lacks: remove images and files, lower requests, or move pods.',
  find(node) {
    for (const [type, lacks] of Object.entries(pressures)) {
      const condition = conditionOf(node, type);
      if (condition?.status !== 'True') continue;
      return {
        severity: 'degraded',
        says: `the node is short of ${lacks}`,
        evidence: [`${type}: ${oneLine(textAt(condition, 'message'))}`],
        mend: [
          type === 'DiskPressure'
            ? { advice: 'remove files and unused images of that machine (docker image prune)' }
            : { command: 'top pods -A', about: 'shows which pods use the most' },
        ],
      };
    }
    return undefined;
  },
};
