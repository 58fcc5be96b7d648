/** A promise of what is not asked for before somebody awaits it. */
export abstract class Lazy<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "Promise";

  protected abstract run(): Promise<T>;

  then<A = T, B = never>(done?: ((value: T) => A | PromiseLike<A>) | null, failed?: ((fault: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.run().then(done, failed);
  }

  catch<B = never>(failed?: ((fault: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.run().catch(failed);
  }

  finally(last?: (() => void) | null): Promise<T> {
    return this.run().finally(last);
  }
}
