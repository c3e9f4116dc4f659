/** Words for the kinds that every server of minik8s has, for advice that is given without a server. Pure. */
import { kindWords } from './kind-words.gen.ts';

const words: ReadonlySet<string> = new Set([...kindWords, 'all']);

/** Returns true for a plural, a singular or a short name, in upper or lower case; also for `all`. */
export const isKindWord = (word: string): boolean => words.has(word.toLowerCase());
