/** Sleeps 0.1 s and prints how long that took. */
public class Sleep {
    public static void main(String[] arguments) throws InterruptedException {
        long began = System.nanoTime();
        Thread.sleep(100);
        System.out.println((System.nanoTime() - began) / 1e9);
    }
}
