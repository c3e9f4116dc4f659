/**
 * The samples inside the executable: JSON, compressed with zstd. config/build/samples.ts reads the files of
 * the repository, and `minik8s samples` writes them.
 */
import { zstdDecompressSync } from 'node:zlib';

export interface SampleFile {
  /** Relative path with forward slashes, such as `samples/hello/service.yaml`. */
  readonly path: string;
  /** True for a program, such as `bin/make-images`. */
  readonly executable: boolean;
  readonly text: string;
}

/** Returns the JSON of the files. The same files give the same bytes. */
export const samplesJson = (files: readonly SampleFile[]): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(files));

/** Returns the files of the compressed JSON. */
export const readSampleFiles = (compressed: Uint8Array): readonly SampleFile[] =>
  JSON.parse(zstdDecompressSync(compressed).toString());
