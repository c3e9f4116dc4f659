/** A volume that the pod needs cannot be provided; the message names it. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}
