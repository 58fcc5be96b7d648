/** A promise of what is asked for once, when somebody awaits it. */
export abstract class Lazy<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "Promise";

  private running: Promise<T> | undefined;

  protected abstract run(): Promise<T>;

  private once(): Promise<T> {
    return (this.running ??= this.run());
  }

  then<A = T, B = never>(done?: ((value: T) => A | PromiseLike<A>) | null, failed?: ((fault: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.once().then(done, failed);
  }

  catch<B = never>(failed?: ((fault: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.once().catch(failed);
  }

  finally(last?: (() => void) | null): Promise<T> {
    return this.once().finally(last);
  }
}
