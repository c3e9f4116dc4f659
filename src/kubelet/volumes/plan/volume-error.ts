/** A volume that the pod needs cannot be provided; the message names the volume. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}
